// Package membucket keeps a bucket in memory, for tests of what works on buckets. It behaves
// as Kafka does where that hurts: records stand on partitions, a partition has one reader,
// only the prefix that is done is remembered, and readers that come and go take partitions
// from each other, which hands out again whatever lies behind the prefix. It keeps nothing
// when the process ends.
package membucket
