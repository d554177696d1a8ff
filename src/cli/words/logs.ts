import type { Acting, OutputOf, OutputPiece } from '../../verbs/reeve.ts'
import { oneProcess } from '../arguments.ts'
import type { Context } from '../context.ts'
import { tellHeldBack } from '../foreground/tell-held-back.ts'
import { LineSplitter } from '../line-splitter.ts'
import { startedAgainAs } from '../print/asked-for.ts'
import { heldBackText } from '../print/held-back.ts'
import { EscapeFilter } from '../print/neutral.ts'
import { statusText } from '../print/status.ts'
import { byteCount } from '../print/times.ts'
import { tagged } from '../tagged.ts'
import { UsageError } from '../usage-error.ts'
import { word } from '../word.ts'
import { writeAll } from '../write-all.ts'

const MOST_LINES = 10_000

export const logs = word({
  name: 'logs',
  summary: 'Prints what a command has printed, and goes on with -f',
  usage: ['logs [options] <process>'],
  completes: 'process',
  options: {
    follow: { type: 'flag', short: 'f', about: 'go on as it comes, until the command has ended' },
    tail: { type: 'number', short: 'n', value: 'lines', about: 'the last ones' },
    since: { type: 'duration', value: 'time', about: 'what was printed since: 5m, 2h' },
    from: { type: 'number', value: 'offset', about: 'from this byte of the output on' },
    stream: {
      type: 'text',
      value: 'stream',
      choices: ['stdout', 'stderr'],
      about: 'this one alone, of a command whose streams are kept apart',
    },
    reveal: { type: 'flag', about: 'show secrets instead of masking them; this is noted with the process' },
    raw: { type: 'flag', about: 'all escape sequences on a terminal, too, not colours alone' },
  },
  about: `
Into a file or a pipe bytes come as they were printed. On a terminal only colours do: other escape sequences, which could set its
title or clipboard or move its cursor, are left out, and control characters are shown, unless --raw says otherwise. Secrets are
masked with *, one for each byte. What is not kept any more is a gap, which is named on standard error. With --jsonl: a line each, with its number and offset; with -f its offset and text.`,
  examples: [
    ['reeve logs web', 'all of it'],
    ['reeve logs -fn 20 web', 'the last 20 lines, then what comes'],
    ['reeve logs --since 5m web', 'of the last five minutes'],
  ],
  async run(context) {
    const { options, print } = context
    const reeve = await context.acting()
    // A name may pass on to another process while this goes on.
    const { pid, name, spec, heldBack } = await reeve.show({ pid: oneProcess(context, { name: 'logs' }) })
    if (options.stream !== undefined && spec['output'] !== 'tagged')
      throw new UsageError(
        `The streams of ${name ?? pid} are not kept apart.`,
        'Start it with reeve run -d --split, or leave --stream out.',
      )
    const stop = new AbortController()
    const from = await startOf(reeve, pid, options)
    if (print.isJson && !options.follow && options.from === undefined && options.since === undefined) {
      await printLines(context, reeve, pid, options)
      return 0
    }
    const { end } = await reeve.output({ pid, offset: from, limit: 1 })
    const { reveal } = options
    const followed = reeve.followOutput({ pid, offset: from, reveal }, { signal: stop.signal })
    const pieces = options.follow ? followed : upTo(followed, end)
    const shown = options.stream === undefined ? pieces : ofStream(reeve, pid, pieces, options.stream)
    const stopTelling = options.follow ? tellHeldBack(context, reeve, pid) : () => undefined
    try {
      if (from < end || options.follow) await printPieces(context, shown)
    } finally {
      stopTelling()
    }
    stop.abort()
    if (heldBack !== undefined && !options.follow)
      print.aside(`${name ?? pid}: ${heldBackText(heldBack, Date.now())}`)
    if (options.follow) await sayNext(context, reeve, pid)
    return 0
  },
})

/** Its output ends with it; what was started in its place has an output of its own. */
async function sayNext({ print }: Context<unknown>, reeve: Acting, pid: string): Promise<void> {
  const record = await reeve.show({ pid })
  const next = startedAgainAs(record)
  if (next === undefined) return
  const name = record.name ?? pid
  print.aside(
    `${name} has ended (${statusText(record)}), and was started again, as ${next}: reeve logs -f ${next}`,
  )
}

interface LogOptions {
  readonly tail: number | undefined
  readonly since: number | undefined
  readonly from: number | undefined
}

async function startOf(reeve: Acting, pid: string, { tail, since, from }: LogOptions): Promise<number> {
  if (from !== undefined) return from
  if (since !== undefined)
    return (await reeve.output({ pid, since: Math.max(0, Date.now() - since), limit: 1 })).offset
  if (tail === undefined) return 0
  if (tail === 0) return (await reeve.output({ pid, limit: 1 })).end
  // One page has 10,000 lines at most: the first of the wanted ones is all that is needed.
  const { lines } = await reeve.log({ pid, from: 'end', offset: tail - 1, limit: 1 })
  return lines[0]?.offset ?? 0
}

/** What was there when it was asked for. */
async function* upTo(
  pieces: AsyncIterable<OutputPiece>,
  end: number,
): AsyncGenerator<OutputPiece, void, void> {
  for await (const piece of pieces) {
    yield { ...piece, bytes: piece.bytes.subarray(0, Math.max(0, end - piece.offset)) }
    if (piece.offset + piece.bytes.length >= end) return
  }
}

async function* ofStream(reeve: Acting, pid: string, pieces: AsyncIterable<OutputPiece>, wanted: string) {
  for await (const piece of tagged(reeve, pid, pieces)) if (piece.stream === wanted) yield piece
}

async function printPieces(
  context: Context<{ readonly raw: boolean }>,
  pieces: AsyncIterable<OutputPiece>,
): Promise<void> {
  const { print, around, options } = context
  const lines = new LineSplitter()
  const terminal = around.stdout.isTTY && !options.raw ? new NeutralOutput() : null
  for await (const { offset, bytes, gap } of pieces) {
    if (gap !== null && print.isJson) print.jsonLine({ gap })
    else if (gap !== null)
      print.aside(`${byteCount(gap.to - gap.from)} are missing here: they are not kept any more.`)
    if (print.isJson) for (const line of lines.take(offset, bytes)) print.jsonLine(line)
    else await writeAll(around.stdout, terminal === null ? bytes : terminal.take(bytes))
  }
  if (print.isJson) for (const line of lines.rest()) print.jsonLine(line)
  else if (terminal !== null) await writeAll(around.stdout, terminal.end())
}

/** Output of others for a terminal. A character or an escape sequence that two pieces share stays whole. */
class NeutralOutput {
  readonly #decoder = new TextDecoder()
  readonly #filter = new EscapeFilter('output')

  take(bytes: Uint8Array): string {
    return this.#filter.take(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): string {
    return this.#filter.take(this.#decoder.decode()) + this.#filter.end()
  }
}

async function printLines(
  { print, options }: Context<unknown>,
  reeve: Acting,
  pid: string,
  {
    tail,
    stream,
    reveal,
  }: {
    readonly tail: number | undefined
    readonly stream: string | undefined
    readonly reveal: boolean
  },
): Promise<void> {
  const only = { reveal, ...(stream === undefined ? {} : { stream: stream as 'stdout' | 'stderr' }) }
  const found: OutputOf<'log'>['lines'] = []
  if (tail !== undefined) {
    while (found.length < tail) {
      const limit = Math.min(tail - found.length, MOST_LINES)
      const page = await reeve.log({ pid, from: 'end', offset: found.length, limit, ansi: 'keep', ...only })
      found.unshift(...page.lines)
      if (page.lines.length < limit) break
    }
  } else {
    let offset: number | null = 0
    while (offset !== null) {
      const page: OutputOf<'log'> = await reeve.log({
        pid,
        from: 'start',
        offset,
        limit: MOST_LINES,
        ansi: 'keep',
        ...only,
      })
      if (options.jsonl) for (const line of page.lines) print.jsonLine(line)
      else found.push(...page.lines)
      offset = page.next
    }
  }
  if (!options.jsonl || tail !== undefined) print.jsonList(found)
}
