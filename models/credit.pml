/* SPDX-License-Identifier: Apache-2.0 */
/* Credit flow control of one flow of a FORTH link (forth.md 5), without end
 * of stream, so that the counters wrap for ever.
 *
 * Packets keep their order and take any time; credits keep their order, take
 * any time, and may be lost and repeated.  Each process is one thing that can
 * happen, so that weak fairness means: what stays possible happens.
 *
 *	packets    send -> data -> arrive -> buf -> forward
 *	credits    hear <- cred <- grant
 *
 * Not modelled: time, payloads, parity (a damaged credit counts as lost
 * unless BADCREDIT), other flows (they share nothing but the wire).
 *
 * Verdicts, named in models/runs: `overflow` the receive buffer, `stop` for
 * good.  With LIVE also the formula at the end. */

#ifndef M
#define M 16		/* counters are modulo M */
#endif
#ifndef G
#define G 4		/* granularity of credits; divides M */
#endif
#ifndef B
#define B 8		/* capacity of the buffer */
#endif
#ifndef CMIN
#define CMIN 1		/* charges of packets: CMIN..CMAX */
#endif
#ifndef CMAX
#define CMAX 3
#endif
#ifndef K
#define K 2		/* credits under way */
#endif
#ifndef WORDS
#define WORDS 0		/* buffer drained: 1 by word (NIC), 0 by packet */
#endif
#ifndef LOSS
#define LOSS 255	/* most credits lost in a row; 255: no limit */
#endif
#ifndef REFRESH
#define REFRESH 1	/* unchanged values are repeated (5.3) */
#endif
#ifndef TRUNC
#define TRUNC 0		/* sum of 5.2 cut to the width of the counter */
#endif
#ifndef REORDER
#define REORDER 0	/* credits may overtake each other */
#endif
#ifndef BADCREDIT
#define BADCREDIT 0	/* a credit may arrive with any value (5.6) */
#endif
#ifndef FILTER
#define FILTER 0	/* plausibility filter of 5.4 */
#endif
#ifndef DAMAGE
#define DAMAGE 0	/* most packets with a damaged header; 255: no limit */
#endif
#ifndef RETURN
#define RETURN 0	/* their charge: 1 given back (NIC), 0 leaks (switch) */
#endif
#ifndef RESYNC
#define RESYNC 0	/* see below */
#endif
#ifndef WATCH
#define WATCH 1		/* verdict `stop` is wanted */
#endif
/* Resynchronisation (5.7: T = F = F' = 0 on both sides), our own design: the
 * sender stops, changes its epoch bit and repeats a request with it until a
 * credit carries the same bit.  The receiver takes a new bit over when the
 * buffer has drained.
 *	0	none
 *	1	when the sender lacks credits, rightly or not
 *	2	at any time
 *	3	as 2, but the receiver does not wait for the buffer to drain
 *	4	as 2, but the sender takes the next credit, whatever its bit */

#define PK	(B / CMIN + 4)		/* more than can ever be under way */
#define REQUEST	0			/* a charge no packet has */
#define USED	((T + M - acked) % M)
#if TRUNC
#define MAY_SEND	((USED + want) % M <= B)
#else
#define MAY_SEND	(USED + want <= B)
#endif
/* Nothing is under way that could let the sender go on. */
#define NO_CREDIT	(acked == F / G * G || (!REFRESH && given == F / G))
#define STOPPED		(!MAY_SEND && empty(data) && !occ && empty(cred) && \
			 NO_CREDIT && WATCH && !RESYNC)

chan data = [PK] of { byte, bit };	/* charge, epoch of a request */
chan buf = [PK] of { byte };		/* charges of packets that wait */
chan cred = [K] of { byte, bit };	/* F / G, epoch */

byte T, acked;		/* sender: words sent, F' */
byte F, given;		/* receiver: words forwarded, value last granted */
byte occ;		/* words in the buffer */
byte want;		/* charge of the packet to send next */
byte hits, losses;	/* damaged packets; credits lost in a row */
bit tx_epoch, rx_epoch, new_epoch;
bool waiting;		/* the sender, for the new epoch */
bool overflow, stop;
#ifdef LIVE
bit moved, heard;	/* change with every packet, every credit */
#define MOVED moved = !moved
#define HEARD heard = !heard
#else
#define MOVED skip
#define HEARD skip
#endif

inline pick()
{
	want = CMIN;
	do
	:: want < CMAX -> want++
	:: break
	od
}

active proctype send()
{
	atomic { pick() };
	do
	:: atomic { !waiting && MAY_SEND ->
		data!want,0;
		T = (T + want) % M;
		pick()
	}
	:: atomic { STOPPED -> stop = true; assert(!stop) }
	od
}

active proctype arrive()
{
	byte c;
	bit e;

end:	do
	:: atomic { data?c,e ->
		if
		:: c == REQUEST -> new_epoch = e
		:: c != REQUEST ->
			occ = occ + c;
			overflow = occ > B;
			assert(!overflow);
#if !WORDS
			buf!c;
#endif
		/* a request lost with all others would be asked for again */
		:: hits < DAMAGE || DAMAGE == 255 ->
			if
			:: DAMAGE < 255 -> hits++
			:: else
			fi;
			if
			:: RETURN -> F = (F + c) % M
			:: else
			fi;
			MOVED
		fi;
		c = 0;
		e = 0
	}
	od
}

active proctype forward()
{
	byte c;

end:	do
#if WORDS
	:: atomic { occ -> occ--; F = (F + 1) % M; MOVED }
#else
	:: atomic { buf?c -> occ = occ - c; F = (F + c) % M; MOVED; c = 0 }
#endif
	od
}

active proctype grant()
{
end:	do
	:: atomic { nfull(cred) && (REFRESH || F / G != given) ->
		given = F / G;
		cred!given,rx_epoch
	}
	od
}

active proctype hear()
{
	byte v;
	bit e;

end:	do
	:: atomic { cred?v,e ->
		if
		:: true
		:: BADCREDIT -> v = 0;
			do
			:: v < M / G - 1 -> v++
			:: break
			od
		fi;
		if
		:: waiting && (RESYNC == 4 || e == tx_epoch) ->
			waiting = false;
			T = 0;
			acked = 0
		:: !waiting && (!FILTER ||
				(v * G + M - acked) % M <= USED) ->
			acked = v * G
		:: else
		fi;
		losses = 0;
		HEARD;
		v = 0;
		e = 0
	}
	od
}

#if LOSS || REORDER
active proctype line()
{
	byte v;
	bit e;

end:	do
	:: atomic { nempty(cred) && (LOSS == 255 || losses < LOSS) ->
		cred?_,_;
		if
		:: LOSS < 255 -> losses++
		:: else
		fi
	}
	:: atomic { REORDER && len(cred) > 1 ->
		cred?v,e;
		cred!v,e;
		v = 0;
		e = 0
	}
	od
}
#endif

#if RESYNC
active proctype ask()
{
end:	do
	:: atomic { !waiting && (RESYNC > 1 || !MAY_SEND) ->
		waiting = true;
		tx_epoch = !tx_epoch
	}
	:: atomic { waiting && len(data) < 2 -> data!REQUEST,tx_epoch }
	od
}

active proctype renew()
{
end:	do
	:: atomic { new_epoch != rx_epoch && (!occ || RESYNC == 3) ->
		rx_epoch = new_epoch;
		F = 0;
		given = 0
	}
	od
}
#endif

#ifdef LIVE
/* If credits get through again and again, so do packets; as they keep their
 * order, each of them. */
ltl live {
	([]<> heard && []<> !heard) -> ([]<> moved && []<> !moved)
}
#endif
