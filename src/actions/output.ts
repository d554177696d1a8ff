import { whileUp } from '../command/keeper-answer.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { CallOptions, OutputOf, VerbName } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor } from './action.ts'
import { commandIn, heldBackIn, outputIn } from './command-in.ts'
import { revealRequest, terminalView } from './reveal.ts'

const NOTHING_USED = {
  cpuMs: null,
  peakMemoryBytes: null,
  memoryBytes: null,
  readBytes: null,
  writtenBytes: null,
  sampled: true,
}

/** The model call of an agent that has begun to answer. */
function callUnderWay({ agent }: ProcessRecord): Pick<OutputOf<'outputStreams'>, 'call'> {
  const turn = agent?.turn ?? null
  if (turn?.call?.from === undefined) return {}
  return { call: { turn: turn.number, call: turn.call.number, from: turn.call.from } }
}

export function outputActions(
  parts: ActionParts,
): ActionsFor<'poll' | 'log' | 'search' | 'screen' | 'output' | 'outputStreams' | 'usage'> {
  const { kernel, actor, commands, reveals, effects } = parts
  const read = readerFor(parts)
  const find = async (text: string, options: CallOptions = {}) => {
    const record = await read(text)
    const view = (verb: VerbName, reveal: boolean) =>
      reveals.viewFor(revealRequest(actor, verb, options), record, reveal)
    return { record, output: outputIn(commands, record), view }
  }
  return {
    async poll({ pid, cursor, turn, reader = null, maxChars, ansi, reveal }, call) {
      const { record, output, view } = await find(pid, call)
      const asked = { cursor: cursor ?? null, actor, reader, keepsPosition: effects.areKept, maxChars, ansi }
      const since = await output.poll(record, asked, await view('poll', reveal))
      if (turn !== undefined && hasEnded(record)) await effects.observe(record.pid, turn)
      const { startedAt, endedAt } = record.outcome ?? { startedAt: null, endedAt: null }
      const from = startedAt ?? record.firstStarted?.at ?? record.createdAt
      const held = heldBackIn(commands, record)
      return {
        record,
        ...since,
        ...held,
        uptimeMs: Math.max(0, (endedAt ?? kernel.edges.clock.now()) - from),
      }
    },
    async log({ pid, reveal, reader, ...options }, call) {
      const { record, output, view } = await find(pid, call)
      const page = await output.lines(record, options, await view('log', reveal))
      // The reader has seen the whole output: it needs no notice of the end.
      if (
        hasEnded(record) &&
        page.next === null &&
        options.stream === undefined &&
        call.signal?.aborted !== true
      )
        await effects.consume(record.pid, reader)
      return page
    },
    async search({ pid, reveal, ...options }, call) {
      const { record, output, view } = await find(pid, call)
      return output.search(record, options, await view('search', reveal))
    },
    async screen({ pid, scrollback, reveal }, call) {
      const { record, output, view } = await find(pid, call)
      return output.screen(record, scrollback, await view('screen', reveal))
    },
    async output({ pid, offset, since, limit, reveal, terminal }, call) {
      const { record, output, view } = await find(pid, call)
      const from = offset ?? (since === undefined ? 0 : await output.offsetAt(record, since))
      const shownAs = terminal ? terminalView(kernel, actor) : await view('output', reveal)
      return output.bytes(record, from, limit, shownAs)
    },
    async outputStreams({ pid, from, to = Number.MAX_SAFE_INTEGER, times }) {
      const { record, output } = await find(pid)
      // The end is read before the index, so that the index has all entries of these bytes.
      const end = Math.min(to, await output.length(record))
      const parts = [...(await output.streams(record, from, end))]
      const answer = { parts, end, ...callUnderWay(record) }
      return times ? { ...answer, times: await output.times(record, from, end) } : answer
    },
    async usage({ pid }) {
      const { record, output } = await find(pid)
      const served = commandIn(commands, record)
      const outputBytes = await output.length(record)
      const ended = record.outcome?.result as { usage?: typeof NOTHING_USED } | null | undefined
      if (hasEnded(record)) return { ...NOTHING_USED, ...ended?.usage, outputBytes }
      const usage = await whileUp(record, served.keeperOf(record.pid).usageOf(record.pid))
      return { ...NOTHING_USED, ...usage, outputBytes }
    },
  }
}
