// Package remote lets several processes work on one membucket: the process that holds it
// serves it on a listener, the others dial. It is for tests that stop and kill dispatchers.
// As with a Kafka group, a reader that does not beat for a session is expelled, and one whose
// connection ends is gone; its partitions go to the others, who get again what was not done.
package remote
