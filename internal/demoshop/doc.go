// Package demoshop is the ticket shop that the demo room protects: what a site behind
// Anteroom looks like to its visitors. It sells nothing and keeps nothing, loads nothing
// from elsewhere, and works without its few lines of script, which count the visit down.
// It shows that a visitor is inside when the pass middleware says so in the
// Anteroom-Visitor header, and frees the slot by a form.
package demoshop
