import { createInterface } from 'node:readline'
import type { Surroundings } from './context.ts'

/** Asks a yes-or-no question at the terminal. No is the default; the end of the input is a no. */
export function askYes({ stdin, stderr }: Surroundings, question: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const lines = createInterface({ input: stdin, output: stderr })
  lines.once('close', () => resolve(false))
  lines.question(`${question} [y/N] `, (answer) => {
    resolve(/^y(es)?$/i.test(answer.trim()))
    lines.close()
  })
  return promise
}
