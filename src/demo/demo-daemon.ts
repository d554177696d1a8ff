import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { connectWith } from '../client/connect.ts'
import { announcedDaemon } from '../home/announced-daemon.ts'
import { type HomePaths, homePaths } from '../home/paths.ts'
import { launcher } from '../package/own-files.ts'
import { isGone, killHard, pollUntil } from './worker-process.ts'

/** How long a daemon may take to stop, and the keeper to exit when it has no commands left. */
const END_MS = 10_000

/** Daemons in a home of their own, one after the other. */
export class DemoDaemon {
  readonly home: string
  readonly #paths: HomePaths
  #child: ChildProcess | undefined
  #starting: Promise<number> | undefined
  #isOver = false
  /** The PID of the keeper, as far as it is known. */
  keeper: number | null = null

  constructor(home: string) {
    this.home = home
    this.#paths = homePaths(home)
  }

  /** Resolves with the PID of a daemon that answers. */
  start(signal: AbortSignal): Promise<number> {
    if (this.#isOver) return Promise.reject(new Error('The demo is over.'))
    this.#starting = this.#start(signal)
    return this.#starting
  }

  async #start(signal: AbortSignal): Promise<number> {
    const child = spawn(process.execPath, [launcher(), 'up', '--quiet'], {
      env: environment(this.home),
      stdio: 'ignore',
      // Ctrl-C at the terminal is for the demo, which then ends its daemon.
      detached: true,
    })
    this.#child = child
    const { pid = 0 } = child
    const isUp = () => announcedDaemon(this.#paths)?.osPid === pid && existsSync(this.#paths.socket)
    await pollUntil(() => isUp() || child.exitCode !== null, signal)
    if (child.exitCode !== null) throw new Error(`The daemon ended with the exit code ${child.exitCode}.`)
    return pid
  }

  async kill(): Promise<void> {
    if (this.#child !== undefined) await killHard(this.#child)
  }

  /** By the operating system. */
  isGone(osPid: number): boolean {
    return isGone(osPid)
  }

  /** Ends the daemon and the keeper. A keeper whose daemon was killed gets another, which ends its commands. */
  async clear(): Promise<void> {
    this.#isOver = true
    if (this.#child === undefined) return
    await this.#starting?.catch(() => undefined)
    const signal = AbortSignal.timeout(END_MS)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) await this.#start(signal)
    const child = this.#child
    if (this.keeper === null && announcedDaemon(this.#paths)?.osPid === child.pid) {
      const reeve = await connectWith({ home: this.home })
      this.keeper = (await reeve.status()).keeper?.osPid ?? null
      await reeve.close()
    }
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    const { keeper } = this
    if (keeper !== null) await pollUntil(() => isGone(keeper), signal)
  }
}

/** Settings of the caller's own daemon are not for this one. Commands find the Node that runs the demo. */
function environment(home: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('REEVE_'))
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  return { ...Object.fromEntries(own), PATH: path, REEVE_HOME: home, REEVE_LISTEN: 'off' }
}
