import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { childrenOf, endForCertain } from '../../command/os-processes.ts'
import { exitOf, startTimeOf, until } from '../../keeper/client.ts'
import type { Driver, Setup } from './drivers/driver.ts'
import type { ScriptedModel } from './model/scripted-model.ts'

/** Where a client works, and who its model is. */
interface Workspace {
  readonly folder: string
  readonly path: string
  readonly model: ScriptedModel
}

/** A client at work on one prompt. */
export class RunningClient {
  output = ''
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => {
        this.output += data.toString()
      })
  }

  static start(
    driver: Driver,
    command: readonly string[],
    { folder, path, model, ...setup }: Setup & Workspace,
  ): RunningClient {
    const { args, env } = driver.prepare(setup, 'Do what the test says.')
    const tmp = join(setup.home, 'tmp')
    mkdirSync(tmp)
    const [program = '', ...first] = command
    const child = spawn(program, [...first, ...args], {
      cwd: folder,
      env: {
        HOME: setup.home,
        PATH: path,
        TMPDIR: tmp,
        // A request to anywhere but this machine fails at once.
        HTTP_PROXY: 'http://127.0.0.1:9',
        HTTPS_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '127.0.0.1,localhost',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const client = new RunningClient(child)
    child.once('exit', (code, signal) =>
      model.stop(new Error(`${driver.name} ended with ${code ?? signal}: ${client.output}`)),
    )
    child.once('error', (error) => model.stop(error))
    onTestFinished(() => client.#end())
    return client
  }

  /** The exit code, when the client has ended by itself. */
  exited(): Promise<number | null> {
    return exitOf(this.#child)
  }

  async #end(): Promise<void> {
    const osPid = this.#child.pid
    if (osPid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const started = [osPid, ...childrenOf(osPid).map((child) => child.osPid)]
    for (const one of started) await endForCertain({ osPid: one, startTime: startTimeOf(one) })
    await until('the client is gone', () => this.#child.exitCode !== null || this.#child.signalCode !== null)
  }
}
