# Each target's help is the text after its ##.
TEMPL    := v0.3.1100
GOLANGCI := v2.15.0

.DEFAULT_GOAL := help
.PHONY: help run test race lint generate check rehearse bench

help: ## print this help
	@echo 'make TARGET, where TARGET is one of'
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## start everything on this machine and print what to open
	go run ./cmd/server

test: ## run the tests; those that lack redis-server or Chromium skip with a hint
	go test ./...

race: ## run the tests with the race detector, as CI does
	go test -race -timeout 30m ./...

lint: ## run the linters of .golangci.yml
	@PATH="$$PATH:$$(go env GOPATH)/bin"; command -v golangci-lint >/dev/null || { \
	  echo 'golangci-lint is not installed. Install it with'; \
	  echo '  go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)'; exit 1; }; \
	golangci-lint run ./...

generate: ## make the Go code of the .templ files
	go run github.com/a-h/templ/cmd/templ@$(TEMPL) generate

check: ## do what CI does; on Debian as root it also installs redis-server and Chromium
	.ci/run

rehearse: ## play a crowd against a running server (ARGS="--url … --room … --visitors …")
	go run ./cmd/rehearse $(ARGS)

bench: ## measure what a poll and the gate's answer cost (ARGS="--rounds …")
	go run ./internal/bench/pollbench $(ARGS)
	go run ./internal/bench/gatebench $(ARGS)
