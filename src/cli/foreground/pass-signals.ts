import type { Acting } from '../../verbs/reeve.ts'

/** As from a terminal, Ctrl-C goes to all that run in the foreground; the others are meant for the program. */
const TO = { SIGINT: 'group', SIGTERM: 'process', SIGHUP: 'process', SIGQUIT: 'group' } as const

type Passed = keyof typeof TO

/** What this program is sent goes to the command, and this lives on until that has ended. Undo with what is returned. */
export function passSignals(reeve: Acting, pid: string, which: readonly Passed[]): () => void {
  const undo = which.map((signal) => {
    const pass = () => {
      // It may have ended just now: then there is nobody to tell.
      void reeve.signal({ pid, signal, to: TO[signal] }).catch(() => undefined)
    }
    process.on(signal, pass)
    return () => process.off(signal, pass)
  })
  return () => {
    for (const off of undo) off()
  }
}
