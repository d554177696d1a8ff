import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Reeve } from 'reeve'
import { CommandLine } from '../../../cli/command-line.ts'
import { tempFolder } from '../../../temp-folder.ts'
import type { TempReeve } from '../../../temp-reeve.ts'
import type { RealAgent } from './real-agent.ts'

const KEPT = ['LANG', 'NODE_COMPILE_CACHE', 'REEVE_CHECK_ANSWERS', 'NODE_EXTRA_CA_CERTS']

/** A person whose PATH has the agent, and whose home has nothing but what `signIn` writes. */
export class Person implements AsyncDisposable {
  readonly folder: string = tempFolder()
  /** The daemon that runs their agents. */
  readonly reeve: Reeve
  readonly #line: CommandLine

  private constructor(line: CommandLine, reeve: Reeve) {
    this.#line = line
    this.reeve = reeve
  }

  static async with(
    agent: RealAgent,
    programs: readonly string[],
    temp: TempReeve,
    modelUrl: string | null,
  ): Promise<Person> {
    const home = tempFolder()
    const bin = join(home, 'bin')
    for (const folder of [bin, join(home, 'tmp')]) mkdirSync(folder)
    const [program = ''] = programs
    symlinkSync(program, join(bin, agent.command))
    symlinkSync(process.execPath, join(bin, 'node'))
    if (modelUrl !== null) agent.signIn(home, modelUrl)
    const foreign = Object.keys(process.env).filter((name) => !KEPT.includes(name))
    await temp.start(['--listen', 'off'], {
      ...Object.fromEntries(foreign.map((name) => [name, undefined])),
      HOME: home,
      PATH: `${bin}:/usr/bin:/bin`,
      TMPDIR: join(home, 'tmp'),
      // A request to anywhere but this machine fails at once.
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      ...temp.env,
      ...agent.env(home, programs),
    })
    return new Person(new CommandLine(temp), await connect({ home: temp.folder }))
  }

  /** Starts the agent, under the name `real`. */
  async starts(name: string): Promise<string> {
    return (
      await this.types('agent', '--detach', '--name', 'real', '--with', name, 'Note that you ran')
    ).trim()
  }

  /** Types `reeve …`, and returns what it prints. */
  async types(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#line.run(words, { cwd: this.folder })
    if (code !== 0) throw new Error(`reeve ${words.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return stdout
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reeve.close()
    await this.#line.temp.killDaemon()
  }
}
