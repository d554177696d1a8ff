import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { byteCount } from '../print/times.ts'
import { pumpInput } from '../pump-input.ts'
import { tagged } from '../tagged.ts'
import { writeAll } from '../write-all.ts'
import { passSignals } from './pass-signals.ts'
import { beginWaitForEnd } from './wait-for-end.ts'

type ProcessRecord = OutputOf<'show'>

/** Passes standard input, output and error through, byte for byte, until the command has ended. */
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
  const brokenPipe = watchForBrokenPipe(stdout, () =>
    reeve.signal({ pid, signal: 'SIGPIPE', to: 'group' }).catch(() => undefined),
  )
  // Only a wait marks the notice of the end as seen.
  const seen = spec['notify'] === 'none' ? null : beginWaitForEnd(reeve, pid, over.signal)
  const input = hasInput
    ? pumpInput(reeve, pid, stdin, { sole: true, signal: over.signal })
    : Promise.resolve()
  // Awaited below; until then a failure must not count as unhandled.
  input.catch(() => undefined)
  let missing = 0
  let ended: ProcessRecord | null = null
  try {
    // `terminal`: the reader is the user, so nothing is masked.
    const pieces = reeve.followOutput({ pid, terminal: true })
    const parts = spec['output'] === 'tagged' ? tagged(reeve, pid, pieces) : withoutTags(pieces)
    for await (const { bytes, gap, stream, outcome } of parts) {
      missing += gap === null ? 0 : gap.to - gap.from
      if (stream === 'stderr') await writeAll(stderr, bytes)
      else if (!brokenPipe.isBroken()) await writeAll(stdout, bytes)
      if (outcome !== undefined) ended = { ...started, status: outcome.status, outcome }
    }
    await seen
    over.abort()
    if (missing > 0 && !brokenPipe.isBroken()) {
      print.failure({
        message: `${byteCount(missing)} of the output are missing: the reader was too slow, and they are no longer kept.`,
        remedy: 'Keep more output (outputTailBytes), or let the command write to a file.',
      })
      return null
    }
    return ended
  } finally {
    over.abort()
    // An open standard input would keep this program alive.
    stdin.destroy()
    passOn()
    brokenPipe.stop()
  }
}

async function* withoutTags(pieces: ReturnType<ReeveVerbs['followOutput']>) {
  for await (const piece of pieces) yield { ...piece, stream: null }
}

/** When the reader closes the pipe, the command gets SIGPIPE, as it would without Reeve. */
function watchForBrokenPipe(stdout: NodeJS.WritableStream, onBroken: () => Promise<unknown>) {
  let broken = false
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' || broken) return
    broken = true
    void onBroken()
  }
  stdout.on('error', onError)
  return { isBroken: () => broken, stop: () => void stdout.off('error', onError) }
}
