/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger acceptance of the Host Port (hostport.md 7.4 to 7.6, 4.9): N processes
 * put work into one conditional store buffer, each with one load that is
 * accepted in full, in part or not at all; what is not accepted is triggered
 * again.  Streams have no end.
 *
 *	process p: work queue, load -> csb -> device -> notification queue of p
 *	               ^                                     |
 *	               +------- load "NQ RP += 1" <----------+
 *
 * The device takes entries in order.  A VCI needs an entry of its process's
 * notification queue; without one it is parked in the context (CSB12) and goes
 * on when that process has freed an entry, again by a load.
 *
 * Not modelled: time, contents, status notifications, fetch and units behind
 * the reservation (they take every VCI).
 *
 * Verdicts, named in models/runs: `twice` a VCI runs that no trigger was meant
 * for, `lost` an accepted one never runs, `order` an entry of p runs before an
 * older one, deadlock.  With LIVE the formula at the end: process 0 is accepted
 * again and again. */

#ifndef N
#define N 2		/* processes */
#endif
#ifndef D
#define D 2		/* entries of the CSB */
#endif
#ifndef C
#define C 2		/* most VCIs of one trigger */
#endif
#ifndef Q
#define Q 2		/* entries of a notification queue */
#endif
#ifndef MAX
#define MAX 255		/* CSB14: entries of one process */
#endif
#ifndef HEAD
#define HEAD 0		/* 1: a VCI without NQ entry stops the CSB (no CSB11) */
#endif
#ifndef RETRY
#define RETRY 0		/* loads that the bus may repeat: their answer was late */
#endif
#ifndef LATCH
#define LATCH 1		/* CSB10: a repeated load gets the old answer */
#endif
#ifndef ALLORNONE
#define ALLORNONE 0	/* wrong: full counts as accepted in the answer */
#endif
#ifndef PASS
#define PASS 255	/* fair scheduling: a process that was rejected sees
			 * at most PASS loads of others accepted before its
			 * own load is next (N = 2); 255: any schedule */
#endif

#define ISSUE	0
#define FREE	1

chan csb = [D] of { byte, bit };	/* process, command */

byte offered[N];	/* VCIs in the work queue, not accepted as p knows */
byte due[N];		/* VCIs accepted as p knows, not executed */
byte nqe[N];		/* notifications that p has not freed */
byte used[N];		/* entries reserved or filled, as the device knows */
byte pend[N];		/* VCIs parked */
byte in_csb[N];		/* entries */
byte passed[N];		/* loads of others accepted since p was rejected */
bool rejected[N];
byte repeats;
bool twice, lost;
#ifdef LIVE
bit moved;		/* changes with every VCI of process 0 accepted */
#endif

/* A process that has waited long enough goes first. */
#define YIELDS(p)	(PASS < 255 && rejected[1 - (p)] && \
			 passed[1 - (p)] >= PASS)

inline note(p, k)
{
	if
	:: k ->
		rejected[p] = false;
		passed[p] = 0;
		if
		:: PASS < 255 && rejected[1 - p] -> passed[1 - p]++
		:: else
		fi
	:: else -> rejected[p] = PASS < 255
	fi
}

/* The device: how many of n entries it takes. */
inline accept(p, cmd, n, k)
{
	k = 0;
	do
	:: k < n && nfull(csb) && in_csb[p] < MAX ->
		csb!p,cmd;
		in_csb[p]++;
		k++
	:: else -> break
	od
}

/* One VCI of p runs; its notification is there at once. */
inline execute(p)
{
	twice = !due[p];
	assert(!twice);
	due[p]--;
	used[p]++;
	nqe[p]++
}

proctype process(byte p)
{
	byte k;

end:	do
	/* new work */
	:: atomic { !offered[p] && due[p] <= C ->
		offered[p] = 1;
		do
		:: offered[p] < C -> offered[p]++
		:: break
		od
	}
	/* Issue VCI(offered) */
	:: atomic { offered[p] && !YIELDS(p) ->
		accept(p, ISSUE, offered[p], k);
#if RETRY
		if
		:: true
		/* the answer was late: the same load again */
		:: repeats < RETRY ->
			repeats++;
			if
			:: LATCH
			:: else -> accept(p, ISSUE, offered[p], k)
			fi
		fi;
#endif
#if ALLORNONE
		k = offered[p];
#endif
		note(p, k);
		due[p] = due[p] + k;
		offered[p] = offered[p] - k;
#ifdef LIVE
		if
		:: p == 0 && k -> moved = !moved
		:: else
		fi;
#endif
		k = 0
	}
	/* Increment NQ RP(1) */
	:: atomic { nqe[p] && !YIELDS(p) ->
		accept(p, FREE, 1, k);
		note(p, k);
		nqe[p] = nqe[p] - k;
		k = 0
	}
	/* nothing is left of p in the device: all that was accepted has run */
	:: atomic { !in_csb[p] && !pend[p] && due[p] ->
		lost = true;
		assert(!lost)
	}
	od
}

active proctype device()
{
	byte p;
	bit cmd;

end:	do
	:: atomic { nempty(csb) ->
		csb?<p,cmd>;
		if
		:: cmd == FREE ->
			csb?p,cmd;
			in_csb[p]--;
			used[p]--;
			if
			:: pend[p] ->
				pend[p]--;
				execute(p)
			:: else
			fi
		:: cmd == ISSUE && used[p] < Q ->
			csb?p,cmd;
			in_csb[p]--;
			execute(p)
		:: cmd == ISSUE && used[p] == Q && !HEAD ->
			csb?p,cmd;
			in_csb[p]--;
			pend[p]++
		:: else -> goto stuck
		fi;
		p = 0;
		cmd = 0
	}
	od;
	/* only with HEAD: the entry in front waits for what is behind it */
stuck:	atomic { used[p] < Q -> p = 0; cmd = 0; goto end }
}

init {
	byte i;

	atomic {
		for (i : 0 .. N - 1) {
			run process(i)
		}
	}
}

#ifdef LIVE
ltl live { []<> moved && []<> !moved }
#endif
