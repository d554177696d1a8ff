import type { Commands } from '../command/commands.ts'
import type { Actor } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Attachment, OutputPiece } from '../verbs/attachment.ts'
import type { CallOptions, ReeveVerbs } from '../verbs/reeve.ts'
import { readerFor } from './action.ts'
import { commandIn, outputIn } from './command-in.ts'
import { type Reveals, revealRequest, terminalView } from './reveal.ts'
import { followWhileReadable } from './while-readable.ts'

/** The output of a command from an offset on: the present part, then new output as it is printed. */
export async function* followLog(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  reveals: Reveals,
  { show }: Pick<ReeveVerbs, 'show'>,
  asked: {
    readonly pid: string
    readonly offset: number
    readonly reveal: boolean
    readonly terminal: boolean
  },
  options: CallOptions,
): AsyncGenerator<OutputPiece, void, void> {
  const record = await readerFor({ kernel, actor })(asked.pid)
  const output = outputIn(commands, record)
  const request = revealRequest(actor, 'followOutput', options)
  const view = asked.terminal
    ? terminalView(kernel, actor)
    : await reveals.viewFor(request, record, asked.reveal)
  let offset = asked.offset
  const pieces = followWhileReadable(kernel, actor, record.pid, options, ({ signal }) =>
    output.followers.follow(kernel, record, offset, { signal, view }),
  )
  for await (const piece of pieces) {
    yield piece
    offset = piece.offset + piece.bytes.length
  }
  // Output also ends when the kernel is closed, and when the caller aborts.
  if (kernel.isClosed || options.signal?.aborted === true) return
  const { outcome } = await show({ pid: record.pid })
  if (outcome !== null) yield { offset, bytes: new Uint8Array(), gap: null, outcome }
}

/** A live terminal: the output from `scrollback` bytes before its end on. Typed text goes to the program. */
export async function attach(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  typing: Pick<ReeveVerbs, 'write' | 'resize'>,
  { pid: text, scrollback }: { readonly pid: string; readonly scrollback: number },
  { signal }: CallOptions,
): Promise<Attachment> {
  const record = await readerFor({ kernel, actor })(text)
  const { output } = commandIn(commands, record)
  const { pid } = record
  const detached = new AbortController()
  const either = signal === undefined ? detached.signal : AbortSignal.any([signal, detached.signal])
  const offset = Math.max(0, (await output.length(record)) - scrollback)
  return {
    [Symbol.asyncIterator]: () =>
      followWhileReadable(kernel, actor, pid, { signal: either }, (lasts) =>
        output.followers.follow(kernel, record, offset, { ...lasts, view: terminalView(kernel, actor) }),
      ),
    write: async (typed) => {
      const { bytes } = await typing.write({ pid, text: typed })
      return { bytes }
    },
    resize: async (size) => void (await typing.resize({ pid, ...size })),
    detach: () => detached.abort(),
  }
}
