package peoplestore

// No room can be called ~people, so no key of a room meets these.
const head = "anteroom:{~people}:"

const (
	keyAccounts = head + "accounts" // HASH id → JSON of people.Account, no TTL
	keyVersions = head + "versions" // HASH id → version of the account, no TTL
	keyHandles  = head + "handles"  // HASH people.Account.Handle → id, no TTL
	keyAdmins   = head + "admins"   // SET of ids that govern, no TTL
	keyTokens   = head + "tokens"   // HASH id → JSON of people.Token, no TTL; at most mostTokens
	keyUsed     = head + "used"     // HASH id of a token → last use, ms, no TTL
	keyAudit    = head + "audit"    // STREAM of one field, JSON; about mostEntries, no TTL
)

// keySetup is a set-up link by its hash: STRING "1", TTL peoplestore.SetupLife.
func keySetup(hash string) string { return head + "setup:" + hash }

// keySession is a session by its hashed token: STRING, TTL what is left of its life; empty
// for two minutes when it was ended.
func keySession(token string) string { return head + "session:" + token }
