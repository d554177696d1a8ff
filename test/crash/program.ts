import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { endForCertain, osProcess } from '../command/os-processes.ts'

type Line = Readonly<Record<string, unknown>>

/** A fixture program in an OS process of its own, and the lines that it says. */
export interface Program {
  readonly osPid: number
  /** All lines so far. */
  readonly said: readonly Line[]
  /** The first line, said or still to come, that has this field. Fails if the program ends without it. */
  says(field: string, wanted?: (line: Line) => boolean): Promise<Line>
  tell(line: string): void
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>
  /** Waits until it has ended by itself. */
  ended(): Promise<number | null>
}

/** Starts a program of test/fixtures. It does not outlive the test. */
export async function startProgram(
  name: string,
  args: readonly string[],
  through: readonly string[] = [],
): Promise<Program> {
  const file = join(inject('builtReeve'), `dist/fixtures/${name}.js`)
  const [command = '', ...rest] = [...through, process.execPath, file, ...args]
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await closed
  })
  await once(child, 'spawn')
  const program = listen(child, closed)
  await program.says('ready')
  return program
}

function listen(child: ChildProcess, closed: Promise<void>): Program {
  const said: Line[] = []
  const heard = new Set<() => void>()
  let rest = ''
  let over = false
  child.stdin?.on('error', () => {})
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    said.push(...lines.map((line) => JSON.parse(line) as Line))
    for (const listener of [...heard]) listener()
  })
  void closed.then(() => {
    over = true
    for (const listener of [...heard]) listener()
  })
  return {
    get osPid() {
      return Number(said.find((line) => 'ready' in line)?.['ready'])
    },
    said,
    says: (field, wanted = () => true) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = said.find((line) => field in line && wanted(line))
          if (found === undefined && !over) return
          heard.delete(look)
          if (found === undefined)
            reject(new Error(`The program ended without saying ${field}: ${JSON.stringify(said.at(-1))}`))
          else resolve(found)
        }
        heard.add(look)
        look()
      }),
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async kill() {
      await endForCertain(osProcess(this.osPid))
      await closed
    },
    async ended() {
      await closed
      return child.exitCode
    },
  }
}
