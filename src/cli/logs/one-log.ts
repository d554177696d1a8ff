import type { OutputPiece } from '../../verbs/attachment.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { LineSplitter } from '../line-splitter.ts'
import { EscapeFilter } from '../print/neutral.ts'
import type { Printer } from '../print/printer.ts'
import { byteCount } from '../print/times.ts'
import { writeAll } from '../write-all.ts'
import type { Destination } from './export-file.ts'
import { followRestarts } from './follow-restarts.ts'
import { upTo } from './log-lines.ts'
import { type RangeOptions, rangeOf } from './range.ts'
import { ofStream, type StreamName } from './stream-pieces.ts'

const MAX_LINES = 10_000

export interface OneLogOptions extends RangeOptions {
  readonly follow: boolean
  readonly stream: StreamName | undefined
  readonly reveal: boolean
  readonly raw: boolean
  readonly jsonl: boolean
}

/** Prints one log byte for byte. */
export async function showOneLog(
  { around, print }: Destination,
  reeve: ReeveVerbs,
  pid: string,
  options: OneLogOptions,
): Promise<void> {
  const { tail, from: offset, since, until, reveal, stream, follow } = options
  const isWhole = [offset, since, until].every((bound) => bound === undefined)
  if (print.isJson && !follow && isWhole) return printJsonLines(print, reeve, pid, { ...options, tail })
  const { from, end } = await rangeOf(reeve, pid, options)
  const isSafe = around.stdout.isTTY === true && !options.raw
  if (!follow) {
    const pieces = upTo(reeve.followOutput({ pid, offset: from, reveal }), end)
    if (from < end) await printPieces({ around, print }, ofStream(reeve, pid, pieces, stream), isSafe)
    return
  }
  const onRestart = (message: string) => print.aside(message)
  const followed = followRestarts(reeve, pid, { from, reveal, onRestart })
  for await (const one of followed)
    await printPieces({ around, print }, ofStream(reeve, one.pid, one.pieces, stream), isSafe)
}

async function printPieces(
  { around, print }: Pick<Destination, 'around' | 'print'>,
  pieces: AsyncIterable<OutputPiece>,
  isSafe: boolean,
): Promise<void> {
  const lines = new LineSplitter()
  const terminal = isSafe ? new NeutralOutput() : null
  for await (const { offset, bytes, gap } of pieces) {
    if (gap !== null && print.isJson) print.jsonLine({ gap })
    else if (gap !== null)
      print.aside(`${byteCount(gap.to - gap.from)} are missing here: they are no longer kept.`)
    if (print.isJson) for (const line of lines.take(offset, bytes)) print.jsonLine(line)
    else await writeAll(around.stdout, terminal === null ? bytes : terminal.take(bytes))
  }
  if (print.isJson) for (const line of lines.rest()) print.jsonLine(line)
  else if (terminal !== null) await writeAll(around.stdout, terminal.end())
}

/** Filters untrusted output for a terminal. A character or an escape sequence that spans two pieces stays whole. */
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

async function printJsonLines(
  print: Printer,
  reeve: ReeveVerbs,
  pid: string,
  { tail, stream, reveal, jsonl }: Pick<OneLogOptions, 'tail' | 'stream' | 'reveal' | 'jsonl'>,
): Promise<void> {
  const only = { reveal, ...(stream === undefined ? {} : { stream }) }
  // Lines are counted from the start, because the end moves while the command prints.
  const total = tail === undefined ? null : (await reeve.log({ pid, limit: 1, ...only })).total
  const end = total ?? Number.POSITIVE_INFINITY
  const found: OutputOf<'log'>['lines'] = []
  let offset: number | null = total === null ? 0 : Math.max(0, total - (tail ?? 0))
  while (offset !== null && offset < end) {
    const page: OutputOf<'log'> = await reeve.log({
      pid,
      from: 'start',
      offset,
      limit: Math.min(MAX_LINES, end - offset),
      ansi: 'keep',
      ...only,
    })
    if (jsonl) for (const line of page.lines) print.jsonLine(line)
    else found.push(...page.lines)
    offset = page.next
  }
  if (!jsonl) print.jsonList(found)
}
