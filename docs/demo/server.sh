#!/bin/sh
# Stands in for a server that is slow to start: two seconds of noise, its ready line, then quiet.
i=0
while [ $i -lt 40 ]; do
	printf '\033[2mnoise %s: loading something, not ready yet\033[0m\n' $i
	i=$((i + 1))
	sleep 0.05
done
printf '\033[1;32mserver ready\033[0m on port 8080\n'
exec sleep 1000
