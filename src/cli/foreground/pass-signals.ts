import { constants } from 'node:os'
import { codeOf } from '../../base/error-text.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** As at a terminal, Ctrl-C and Ctrl-\ reach the whole foreground group. The other signals are for the program. */
const TO = { SIGINT: 'group', SIGTERM: 'process', SIGHUP: 'process', SIGQUIT: 'group' } as const

type Passed = keyof typeof TO

/**
 * Passes signals on to the command; this program lives until the command has ended. A signal that cannot be passed on, or that
 * comes again before it was, ends this program. The returned function stops passing.
 */
export function passSignals(reeve: ReeveVerbs, pid: string, which: readonly Passed[]): () => void {
  const undo = which.map((signal) => {
    let isUnderWay = false
    const pass = async () => {
      if (isUnderWay) process.exit(128 + constants.signals[signal])
      isUnderWay = true
      try {
        await reeve.signal({ pid, signal, to: TO[signal] })
      } catch (error) {
        // The command has just ended.
        if (codeOf(error) !== 'already_ended') process.exit(128 + constants.signals[signal])
      }
      isUnderWay = false
    }
    const heard = () => void pass()
    process.on(signal, heard)
    return () => process.off(signal, heard)
  })
  return () => {
    for (const off of undo) off()
  }
}
