import type { Commands } from '../command/commands.ts'
import type { Actor } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type Attachment, type CallOptions, type OutputPiece, verbs } from '../verbs/reeve.ts'
import { readerFor } from './act.ts'
import { commandIn } from './command-in.ts'
import { inputActs } from './input-acts.ts'
import { parse } from './parse.ts'
import { type Reveals, terminalView } from './reveal.ts'

export async function* followLog(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  reveals: Reveals,
  asked: {
    readonly pid: string
    readonly offset: number
    readonly reveal: boolean
    readonly terminal: boolean
  },
  options: CallOptions,
): AsyncGenerator<OutputPiece, void, void> {
  const record = await readerFor(kernel, actor)(asked.pid)
  const { output } = commandIn(commands, record)
  const view = asked.terminal
    ? terminalView(kernel, actor)
    : await reveals.viewFor(actor, record, 'followOutput', asked.reveal)
  yield* output.follow(kernel, record, asked.offset, { ...options, view })
}

/** Shows what is there from `scrollback` bytes before the end, then goes on; what is typed goes to the program. */
export async function attach(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  { pid: text, scrollback }: { readonly pid: string; readonly scrollback: number },
  { signal }: CallOptions,
): Promise<Attachment> {
  const record = await readerFor(kernel, actor)(text)
  const { output } = commandIn(commands, record)
  const { pid } = record
  const acts = inputActs(kernel, actor, commands)
  const detached = new AbortController()
  const either = signal === undefined ? detached.signal : AbortSignal.any([signal, detached.signal])
  const offset = Math.max(0, (await output.length(record)) - scrollback)
  return {
    [Symbol.asyncIterator]: () =>
      output.follow(kernel, record, offset, { signal: either, view: terminalView(kernel, actor) }),
    write: async (typed) => {
      const { bytes } = await acts.write(parse(verbs.write.input, { pid, text: typed }, 'write'), {})
      return { bytes }
    },
    resize: async (size) =>
      void (await acts.resize(parse(verbs.resize.input, { pid, ...size }, 'resize'), {})),
    detach: () => detached.abort(),
  }
}
