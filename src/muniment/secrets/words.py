"""Words that follow the name of a secret in prose, forms and code without being one."""

from __future__ import annotations

_TEXT = """
a about above actually again all allow always an and anonymous any are array as auto bad
basic be bearer because been before below between blank bool boolean both broken but by bytes can
cannot case changes char clear cleartext code complex confidential config correct could
credentials data day default demo dict different digest do does easy either email empty encrypt
enough enter env error expire expires expiry fail fails false field file fine first for forever
forgot form format from function generate get getpass given good hard hash hasher have help here
hidden how id if in incorrect input insecure int integer into invalid is it jwt key keychain
keyring label least length level line list local login long longer looks lost manager managers map
masked max maximum may min mine minimum missing more must my name needs never new next nil no none
nope not nothing null nullable number numeric object obsolete of ok okay old on once one only open
optional or other our out outdated page pass password passwd passwords path pattern per phase plain
plaintext please policy private prompt provided public random read regex request require required
reset right role rules safe salt same schema secret secrets secretstr section secure self
sensitive server set shared should show simple some something somewhere stale step still store str
strength string strong stronger such test text that the their there they this to today token too
tool true txt type types undefined unique unknown unset up update upon used user username uuid
valid value var vault verify version very was weak weaker what when where whether which will with
without word wrong xxx yes you your
"""
PLAIN_WORDS = frozenset(_TEXT.split())
_FUNCTION_TEXT = """
a an and are at be for from has have in is it must not of on or please the this to with your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
"""Of those, the ones that make several words a sentence instead of a passphrase."""
