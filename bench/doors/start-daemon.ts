import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OutputOf } from '../../src/index.ts'
import { now, until } from '../clock.ts'
import { isAlive } from '../host/proc.ts'
import { Asker } from './asker.ts'
import { freshFolder, type Setup } from './setup.ts'

const LOOK_MS = 1

/** `reeve up` in its own home, with nothing set but a port and the given options. */
export class Daemon {
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly asker: Asker
  /** From the start of its OS process until it has answered that it is ready. */
  readonly readyMs: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, home: string, env: NodeJS.ProcessEnv, asker: Asker, ms: number) {
    this.#child = child
    this.home = home
    this.env = env
    this.asker = asker
    this.readyMs = ms
  }

  static async start(
    setup: Setup,
    settings: Readonly<Record<string, string>> = {},
    home: string = freshFolder(setup, 'home'),
  ): Promise<Daemon> {
    const env = { ...environmentOf(setup), REEVE_HOME: home, REEVE_LISTEN: '127.0.0.1:0', ...settings }
    const begun = now()
    const child = spawn(process.execPath, [setup.built.launcher, 'up'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (piece) => {
      said += piece
    })
    await until(
      'the daemon is ready',
      () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`The daemon did not start: ${said}`)
        return existsSync(join(home, 'daemon.json'))
      },
      LOOK_MS,
    )
    const { url } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'))
    const asker = new Asker(url, readFileSync(join(home, 'token'), 'utf8').trim())
    await asker.ask({ path: '/readyz' })
    return new Daemon(child, home, env, asker, now() - begun)
  }

  async osPids(): Promise<readonly [daemon: number, keeper: number]> {
    const { daemon, keeper } = (await this.asker.json({ path: '/v1/status' })) as OutputOf<'status'>
    if (keeper === null) throw new Error('There is no keeper.')
    return [daemon.osPid, keeper.osPid]
  }

  /** Runs a shell line; returns the pid. */
  async run(line: string): Promise<string> {
    const body = { kind: 'command', spec: { argv: ['/bin/sh', '-c', line] } }
    const { record } = (await this.asker.json({
      method: 'POST',
      path: '/v1/processes',
      body,
    })) as OutputOf<'spawn'>
    return record.pid
  }

  /** In order, with all its commands and its keeper. */
  async close(): Promise<void> {
    const [, keeper] = await this.osPids()
    await this.asker.ask({ method: 'POST', path: '/v1/kill-all', body: { graceMs: 1 } })
    await this.stop()
    await until('the keeper is gone', () => !isAlive(keeper))
  }

  /** Its processes stay: another daemon may start in the same home. */
  async stop(): Promise<void> {
    this.asker.close()
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

/** The compile cache is warm, as it is for a user; here it lies in the folder of this run. */
function environmentOf({ folder }: Setup): NodeJS.ProcessEnv {
  const caches = join(folder, 'caches')
  mkdirSync(caches, { recursive: true })
  return { ...process.env, XDG_CACHE_HOME: caches }
}
