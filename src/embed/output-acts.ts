import { type Commands, whileUp } from '../command/commands.ts'
import { type Actor, hasEnded } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type ActsFor, readerFor } from './act.ts'
import { commandIn } from './command-in.ts'

const NOTHING_USED = {
  cpuMs: null,
  peakMemoryBytes: null,
  memoryBytes: null,
  readBytes: null,
  writtenBytes: null,
  sampled: true,
}

export function outputActs(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
): ActsFor<'poll' | 'log' | 'search' | 'screen' | 'output' | 'streams' | 'usage'> {
  const read = readerFor(kernel, actor)
  const find = async (text: string) => {
    const record = await read(text)
    const served = commandIn(commands, record)
    return { record, output: served.output, served }
  }
  return {
    async poll({ pid, cursor, maxChars, ansi }) {
      const { record, output } = await find(pid)
      const since = await output.poll(record, { cursor: cursor ?? null, reader: actor, maxChars, ansi })
      const { startedAt, endedAt } = record.outcome ?? { startedAt: null, endedAt: null }
      const from = startedAt ?? record.firstStarted?.at ?? record.createdAt
      return { record, ...since, uptimeMs: Math.max(0, (endedAt ?? kernel.edges.clock.now()) - from) }
    },
    async log({ pid, ...options }) {
      const { record, output } = await find(pid)
      return output.lines(record, options)
    },
    async search({ pid, ...options }) {
      const { record, output } = await find(pid)
      return output.search(record, options)
    },
    async screen({ pid, scrollback }) {
      const { record, output } = await find(pid)
      return output.screen(record, scrollback)
    },
    async output({ pid, offset, since, limit }) {
      const { record, output } = await find(pid)
      const from = offset ?? (since === undefined ? 0 : await output.offsetAt(record, since))
      return output.bytes(record, from, limit)
    },
    async streams({ pid, from, to = Number.MAX_SAFE_INTEGER }) {
      const { record, output } = await find(pid)
      // Before the index is read: of these bytes it then has all entries.
      const end = Math.min(to, await output.length(record))
      return { parts: [...(await output.streams(record, from, end))], end }
    },
    async usage({ pid }) {
      const { record, output, served } = await find(pid)
      const outputBytes = await output.length(record)
      const ended = record.outcome?.result as { usage?: typeof NOTHING_USED } | null | undefined
      if (hasEnded(record)) return { ...NOTHING_USED, ...ended?.usage, outputBytes }
      const usage = await whileUp(record, served.keeperOf(record.pid).usageOf(record.pid))
      return { ...NOTHING_USED, ...usage, outputBytes }
    },
  }
}
