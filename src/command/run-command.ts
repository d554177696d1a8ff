import type { Ending } from '../core/process/intent.ts'
import type { Lost, Parked, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Attendance } from './attend/attend.ts'
import { endingOf, neverBegun, withRestart } from './ending.ts'
import { type LimitWatch, watchLimits } from './limit-watch.ts'
import { timeoutOf } from './plan.ts'
import type { ProgramRequests, Running } from './program-requests.ts'
import type { ProgramStarts } from './program-starts.ts'
import { type Ended, outputEndOf, programOf } from './program-state.ts'
import { registerRestart } from './register-restart.ts'

interface RunParts {
  readonly running: Running
  readonly starts: ProgramStarts
  readonly requests: ProgramRequests
  /** Watches the output, if the spec asks for that. */
  readonly attend: () => Attendance | null
}

/**
 * Executes one command: begins its program, or finds the one that was begun before, and waits for its end. Rejects when this
 * kernel or its store fails, and is then to be called once more: such a failure is not the outcome of a program, which may still
 * be running.
 */
export async function runCommand(
  work: Work,
  kernel: Kernel,
  { running, starts, requests, attend }: RunParts,
): Promise<Ending | Lost | Parked> {
  const { record } = work
  const gone = rejectWhenGone(work)
  const stopListening = work.onRequest((request) => requests.make(running, request))
  let attendance: Attendance | null = null
  let limits: LimitWatch | null = null
  try {
    const begun = await Promise.race([starts.begin(running, work, kernel), gone.promise])
    if (begun === 'never') return neverBegun(running.stop)
    if (begun === 'asked_again') return { status: 'parked' }
    let ended: Ended
    if (begun.state === 'running') {
      running.begun = true
      starts.openReaders(record.pid)
      requests.makeAgain(running, begun.paused)
      if (record.program === null)
        await kernel.performAs(work, { type: 'program_started', program: programOf(begun) })
      attendance = attend()
      limits = watchLimits(record, kernel, (most) => requests.limit(running, most))
      ended = await Promise.race([running.ended.promise, gone.promise])
    } else {
      ended = begun
      // The program ended while no daemon watched: its output is scanned now.
      if (ended.state !== 'failed_start') attendance = attend()
    }
    // After the end is written, no notice about the command can be.
    const finished = attendance === null ? null : attendance.finish(outputEndOf(ended))
    const untold = await Promise.race([finished, gone.promise])
    const ending = endingOf(ended, running.stop, untold, timeoutOf(record))
    const restart = await registerRestart(record, ending, kernel)
    return restart === null ? ending : withRestart(ending, restart)
  } finally {
    attendance?.stop()
    limits?.stop()
    stopListening()
    gone.done()
  }
}

/** Rejects when this kernel closes or has lost the lease: then another kernel writes the program's end. */
function rejectWhenGone(work: Work): { promise: Promise<never>; done: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const check = () => {
    const why = (work.signal.reason as { why?: string } | undefined)?.why
    if (why === 'shutdown' || why === 'lease_lost') reject(work.signal.reason)
  }
  if (work.signal.aborted) check()
  work.signal.addEventListener('abort', check)
  return { promise, done: () => work.signal.removeEventListener('abort', check) }
}
