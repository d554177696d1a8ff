import { constants } from 'node:os'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** As from a terminal, Ctrl-C goes to all that run in the foreground; the others are meant for the program. */
const TO = { SIGINT: 'group', SIGTERM: 'process', SIGHUP: 'process', SIGQUIT: 'group' } as const

type Passed = keyof typeof TO

/**
 * What this program is sent goes to the command, and this lives on until that has ended. One that cannot be passed on, or
 * comes again before it was, is meant for us. Undo with what is returned.
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
        // It may have ended just now: then there is nobody to tell.
        if ((error as { code?: string }).code !== 'already_ended')
          process.exit(128 + constants.signals[signal])
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
