package queue

// All keys of one room share the hash tag {room}: a room lives in one cluster slot,
// and rooms spread over shards.

func keyWaiting(room string) string { return "anteroom:{" + room + "}:waiting" } // ZSET id → place, no TTL
func keyActive(room string) string  { return "anteroom:{" + room + "}:active" }  // ZSET id → slot's end in ms, no TTL
func keySpent(room string) string   { return "anteroom:{" + room + "}:spent" }   // ZSET id → ms when to forget, no TTL; trimmed by admit
func keyRoom(room string) string    { return "anteroom:{" + room + "}:room" }    // HASH memory and counters of the room, no TTL
func keyPace(room string) string    { return "anteroom:{" + room + "}:pace" }    // string GCRA time in µs, TTL a second past its use
func keyAlive(room string) string   { return "anteroom:{" + room + "}:alive:" }  // prefix; + id: string ms until which present, TTL keep_place

// keyOffer: string "id place generation"; TTL of the offer to take a place over.
func keyOffer(room, code string) string { return "anteroom:{" + room + "}:offer:" + code }

// anteroom:{room}:since:<id> is built by the scripts: string ms at which the visitor went
// inside; TTL a day.

// anteroom:{room}:waits is built by the scripts: HASH bucket → how many had waited that
// long; no TTL, as many fields as there are buckets.

// anteroom:{room}:moved:<id> is built by the scripts: string 1; TTL keep_place.

// keyUsed: string 1; TTL until the hand-over token with this id ends.
func keyUsed(room, token string) string { return "anteroom:{" + room + "}:used:" + token }

// keys is what every script gets, in the order of lua/prelude.lua.
func keys(room string) []string {
	return []string{keyWaiting(room), keyActive(room), keySpent(room), keyRoom(room), keyPace(room), keyAlive(room)}
}
