/*
 * drain.c - many taps, readers and lent scans come and go in several threads,
 * for the sanitizers: every byte must come once, in order, to each reader.
 * Prints a line and returns 0 if all is well, aborts otherwise.
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tmux_wait.h"

#define USERS 5			/* threads with taps of their own */
#define ROUNDS 10		/* taps, one after the other, of each */
#define MOST_BYTES 2000000	/* that come through a tap */
#define SPOOL_STEP 100000	/* a spool has none, one or two of it */
#define TAKE_MOST 300000
#define ROOM 262144		/* of a scan's text */
#define RECORDS 4096		/* of its hits and versions */
#define PATIENCE 10000		/* milliseconds */

struct flow {
	struct tw_tap		*tap;
	struct tw_reader	*reader;
	size_t			 size;
	int			 to;
	uint64_t		 chance;
};

static void
must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "drain: %s\n", what);
	abort();
}

static void *
need(size_t size)
{
	void	*memory = calloc(1, size);

	must(memory != NULL, "out of memory");
	return (memory);
}

/* A number below `most`; each thread has its own sequence. */
static size_t
pick(uint64_t *chance, size_t most)
{
	*chance = *chance * 6364136223846793005u + 1442695040888963407u;
	return ((size_t)(*chance >> 33) % most);
}

/* The byte that stands at a place; no two places nearby are alike. */
static uint8_t
byte_at(size_t at)
{
	return ((uint8_t)((at * 2654435761u) >> 13));
}

static void *
write_all(void *argument)
{
	struct flow	*f = argument;
	uint8_t		 data[4096];
	size_t		 done, i, size;
	ssize_t		 now;

	for (done = 0; done < f->size; done += (size_t)now) {
		size = f->size - done;
		if (size > sizeof data)
			size = sizeof data;
		for (i = 0; i < size; i++)
			data[i] = byte_at(done + i);
		now = write(f->to, data, size);
		must(now > 0, "the pipe takes nothing");
	}
	close(f->to);
	return (NULL);
}

static void
wait_for(const struct tw_reader *r, int patience)
{
	struct pollfd	fd = { tw_reader_fd(r), POLLIN, 0 };

	poll(&fd, 1, patience);
}

/* Take all there is, in pieces of any size. */
static void *
take_all(void *argument)
{
	struct flow		*f = argument;
	struct tw_reader	*r = f->reader;
	struct tw_tap_now	 now;
	uint8_t			*data = need(TAKE_MOST);
	uint64_t		 from;
	uint32_t		 ended = 0;
	size_t			 got = 0, i, size;

	while (!ended) {
		wait_for(r, PATIENCE);
		size = tw_reader_take(r, data, 1 + pick(&f->chance, TAKE_MOST),
		    &ended);
		for (i = 0; i < size; i++)
			must(data[i] == byte_at(got + i), "a wrong byte");
		got += size;
		tw_tap_now(f->tap, &now);
		must(now.head >= got, "more was taken than came");
		tw_reader_recall(r, data, 1000, &from);
	}
	must(got == f->size, "not all came");
	tw_reader_free(r);
	free(data);
	return (NULL);
}

static struct tw_scan *
new_scan(struct tw_literals **literals, struct tw_out *out)
{
	struct tw_options	 options = { 0 };
	struct tw_scan		*scan;
	uint32_t		 length = 6, status, index;

	*literals = tw_literals_new((const uint8_t *)"needle", &length, 1, 1,
	    &status, &index);
	options.context = 4096;
	options.keep = TW_KEEP_FINAL;
	scan = tw_scan_new(*literals, &options);
	must(*literals != NULL && scan != NULL, "no scan");
	memset(out, 0, sizeof *out);
	out->hits = need(RECORDS * sizeof *out->hits);
	out->versions = need(RECORDS * sizeof *out->versions);
	out->text = need(ROOM);
	out->hits_room = out->versions_room = RECORDS;
	out->text_room = ROOM;
	return (scan);
}

/* Lend a scan again and again, until the end of the tap. */
static void *
lend_all(void *argument)
{
	struct flow		*f = argument;
	struct tw_reader	*r = f->reader;
	struct tw_literals	*literals;
	struct tw_out		 out;
	struct tw_scan		*scan = new_scan(&literals, &out);
	struct tw_taken		 taken;
	uint8_t			*text = need(ROOM);
	uint32_t		 ended = 0;
	uint64_t		 got = 0;

	while (!ended) {
		tw_reader_lend(r, scan, &out, text, ROOM);
		wait_for(r, (int)pick(&f->chance, 30));
		tw_reader_take_back(r, &taken);
		got += taken.size;
		if (taken.size == 0)
			got += tw_reader_take(r, text, ROOM, &ended);
	}
	must(got <= f->size, "more was scanned than came");
	tw_reader_free(r);
	tw_scan_free(scan);
	tw_literals_free(literals);
	free(out.hits);
	free(out.versions);
	free(out.text);
	free(text);
	return (NULL);
}

/* One tap, with one who writes, one who takes and one who lends. */
static void
use_tap(struct tw_drain *d, uint64_t *chance)
{
	struct flow	flow[3];
	pthread_t	threads[3];
	char		path[64];
	int		fds[2], i;

	must(pipe(fds) == 0, "no pipe");
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	snprintf(path, sizeof path, "/tmp/tmux-wait-check-%ld-%d",
	    (long)getpid(), fds[0]);
	flow[0].size = 1 + pick(chance, MOST_BYTES);
	flow[0].to = fds[1];
	flow[0].tap = tw_tap_new(d, fds[0], path,
	    pick(chance, 3) * SPOOL_STEP, NULL, 0);
	must(flow[0].tap != NULL, "no tap");
	flow[1] = flow[2] = flow[0];
	flow[1].chance = *chance;
	flow[2].chance = ~*chance;
	for (i = 1; i < 3; i++) {
		flow[i].reader = tw_reader_new(flow[i].tap);
		must(flow[i].reader != NULL, "no reader");
	}
	pthread_create(&threads[1], NULL, take_all, &flow[1]);
	pthread_create(&threads[2], NULL, lend_all, &flow[2]);
	pthread_create(&threads[0], NULL, write_all, &flow[0]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	tw_tap_free(flow[0].tap);	/* perhaps under the lender */
	pthread_join(threads[2], NULL);
	close(fds[0]);
}

struct user {
	struct tw_drain	*drain;
	uint64_t	 chance;
};

static void *
use_taps(void *argument)
{
	struct user	*u = argument;
	int		 i;

	for (i = 0; i < ROUNDS; i++)
		use_tap(u->drain, &u->chance);
	return (NULL);
}

int
main(void)
{
	struct user	 users[USERS];
	pthread_t	 threads[USERS];
	struct tw_drain	*d = tw_drain_new();
	int		 i;

	must(d != NULL, "no drain");
	for (i = 0; i < USERS; i++) {
		users[i].drain = d;
		users[i].chance = (uint64_t)i;
		pthread_create(&threads[i], NULL, use_taps, &users[i]);
	}
	for (i = 0; i < USERS; i++)
		pthread_join(threads[i], NULL);
	tw_drain_free(d);
	printf("drain: %d taps, nothing lost\n", USERS * ROUNDS);
	return (0);
}
