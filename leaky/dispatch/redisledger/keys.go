package redisledger

// All keys of one queue share the hash tag {q:queue}: a queue lives in one cluster slot.

func keyPace(queue string) string { return "anteroom:{q:" + queue + "}:pace" } // string, see slot.lua; TTL a second past its use
func keyGate(queue string) string { return "anteroom:{q:" + queue + "}:gate" } // HASH held, disabled: reasons; paused: ms until; why; no TTL
func keyHeld(queue string) string { return "anteroom:{q:" + queue + "}:held" } // ZSET id of each job that takes room in the bucket → ms since when; no TTL

// keyJob: HASH state, attempts, reason, lease (ms until), holder, due (ms), ended (ms); TTL
// Options.Keep after the last change.
func keyJob(queue, id string) string { return "anteroom:{q:" + queue + "}:job:" + id }
