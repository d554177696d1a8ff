import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { byteCount } from '../print/times.ts'
import { pumpInput } from '../pump-input.ts'
import { tagged } from '../tagged.ts'
import { writeAll } from '../write-all.ts'
import { endedLater } from './ended.ts'
import { passSignals } from './pass-signals.ts'

type ProcessRecord = OutputOf<'show'>

/** Standard input, output and error, byte for byte, until the command has ended. */
export async function runThroughPipes(
  { around, print }: Context<unknown>,
  reeve: ReeveVerbs,
  started: ProcessRecord,
  hasInput: boolean,
): Promise<ProcessRecord | null> {
  const { pid, spec } = started
  const { stdin, stdout, stderr } = around
  const over = new AbortController()
  const passOn = passSignals(reeve, pid, ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])
  const stopWriting = tellOfBrokenPipe(stdout, () =>
    reeve.signal({ pid, signal: 'SIGPIPE', to: 'group' }).catch(() => undefined),
  )
  // Only a wait marks the notice of the end as seen.
  const seen = spec['notify'] === 'none' ? null : endedLater(reeve, pid, over.signal)
  const input = hasInput
    ? pumpInput(reeve, pid, stdin, { sole: true, signal: over.signal })
    : Promise.resolve()
  // Looked at below, when all is over: until then a failure of it must not count as unhandled.
  input.catch(() => undefined)
  let missing = 0
  let ended: ProcessRecord | null = null
  try {
    // A person's own: nothing is masked.
    const pieces = reeve.followOutput({ pid, terminal: true })
    const parts = spec['output'] === 'tagged' ? tagged(reeve, pid, pieces) : withoutTags(pieces)
    for await (const { bytes, gap, stream, outcome } of parts) {
      missing += gap === null ? 0 : gap.to - gap.from
      if (stream === 'stderr') await writeAll(stderr, bytes)
      else if (!stopWriting.isBroken()) await writeAll(stdout, bytes)
      if (outcome !== undefined) ended = { ...started, status: outcome.status, outcome }
    }
    await seen
    over.abort()
    if (missing > 0 && !stopWriting.isBroken()) {
      print.failure({
        message: `${byteCount(missing)} of the output are missing: the reader was too slow, and they are not kept.`,
        remedy: 'Keep more of it (outputTailBytes), or let the command write to a file.',
      })
      return null
    }
    return ended
  } finally {
    over.abort()
    // Whoever still writes to it would keep this program alive.
    stdin.destroy()
    passOn()
    stopWriting.undo()
  }
}

async function* withoutTags(pieces: ReturnType<ReeveVerbs['followOutput']>) {
  for await (const piece of pieces) yield { ...piece, stream: null }
}

/** When nobody reads any more, the command is told as it would be without us: by SIGPIPE. */
function tellOfBrokenPipe(stdout: NodeJS.WritableStream, tell: () => Promise<unknown>) {
  let broken = false
  const heard = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' || broken) return
    broken = true
    void tell()
  }
  stdout.on('error', heard)
  return { isBroken: () => broken, undo: () => void stdout.off('error', heard) }
}
