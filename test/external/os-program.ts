import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGCONT', 'SIGUSR1']

/** Prints each signal it gets. `ends` ends it; the others it survives. */
const SCRIPT = `
const ends = process.argv.slice(1)
for (const name of ${JSON.stringify(SIGNALS)})
  process.on(name, () => { console.log(name); if (ends.includes(name)) process.exit(0) })
console.log('here')
setInterval(() => {}, 1000)
`

/** An OS process that Reeve did not start, a group leader, and which signals it got. */
export class OsProgram {
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  #printed = ''

  static async start(...ends: readonly string[]): Promise<OsProgram> {
    const program = new OsProgram(ends)
    await expect.poll(() => program.#printed, { timeout: 45_000 }).toContain('here')
    return program
  }

  private constructor(ends: readonly string[]) {
    this.child = spawn(process.execPath, ['-e', SCRIPT, ...ends], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    this.exited = once(this.child, 'exit')
    onTestFinished(() => this.end())
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text
    })
  }

  get osPid(): number {
    if (this.child.pid === undefined) throw new Error('It was not started.')
    return this.child.pid
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** The signals it got so far. */
  get signals(): string[] {
    return this.#printed.split('\n').filter((line) => line.startsWith('SIG'))
  }

  /** The letter of its state: `S` sleeps, `T` is stopped. */
  get state(): string {
    return readFileSync(`/proc/${this.osPid}/stat`, 'utf8').split(') ').at(-1)?.[0] ?? ''
  }

  async end(): Promise<void> {
    if (this.isRunning) this.child.kill('SIGKILL')
    await this.exited
  }

  async got(...signals: readonly string[]): Promise<void> {
    await expect.poll(() => this.signals, { timeout: 45_000 }).toEqual(signals)
  }
}
