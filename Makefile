.PHONY: tmux-versions

tmux-versions: ## fetch the tmux versions that the suite runs on
	tests/matrix/fetch
