import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { type Embedded, embedWith } from '../../../src/embed/embed.ts'
import { builtFixture } from '../../built-file.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { answers, ended } from './agent-bench.ts'
import { crashScripts, effectTools } from './crash-scripts.ts'
import { FakeAgents } from './fake-agent.ts'

const FIXTURE = builtFixture('tool-agent')

class Crash {
  readonly #temp = new TempReeve()
  readonly workspace = join(this.#temp.folder, 'work')
  #child: ChildProcess | undefined

  constructor() {
    mkdirSync(this.workspace)
  }

  /** Starts an agent in a program of its own; resolves with its pid when `isReady` holds for what it said. */
  async start(name: string, isReady: (called: readonly string[], pid: string) => boolean): Promise<string> {
    const args = [this.#temp.store, this.workspace, this.#temp.keeperHome.folder, name]
    const child = spawn(process.execPath, [FIXTURE, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    onTestFinished(() => void child.kill('SIGKILL'))
    const called: string[] = []
    let pid = ''
    for await (const line of createInterface(child.stdout)) {
      const said = JSON.parse(line) as { pid?: string; called?: string }
      pid = said.pid ?? pid
      if (said.called !== undefined) called.push(said.called)
      if (pid !== '' && isReady(called, pid)) break
    }
    return pid
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null) throw new Error('No agent runs')
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  async goOn(): Promise<Embedded> {
    const reeve = await embedWith(
      {
        store: this.#temp.store,
        tools: effectTools(this.workspace, () => undefined),
        commands: { home: this.#temp.keeperHome.folder, environment: 'inherit', shell: '/bin/sh' },
      },
      { agentDriver: (toolbox) => new FakeAgents(toolbox, crashScripts) },
    )
    onTestFinished(() => reeve.close())
    return reeve
  }

  release(): void {
    writeFileSync(join(this.workspace, 'released'), '')
  }

  effects(): readonly string[] {
    return readFileSync(join(this.workspace, 'effects'), 'utf8').trim().split('\n').sort()
  }
}

test('after kill -9 a finished call never runs again, a lost one is honest, and a read runs again', async () => {
  const crash = new Crash()
  const pid = await crash.start('parallel', (called) => called.length === 4)
  await crash.kill()
  crash.release()
  const reeve = await crash.goOn()
  await ended(reeve, pid)
  expect(crash.effects()).toEqual(['quick', 'quick', 'slow', 'slow_read', 'slow_read'])
  const [quick, slow, read, last] = await answers(reeve, pid)
  expect(quick).toMatchObject({ isError: false, text: 'quick result' })
  expect(slow).toMatchObject({
    isError: true,
    text: 'Interrupted; its effect is unverified, check before repeating.',
  })
  expect(read).toMatchObject({ isError: false, text: 'released' })
  expect(last).toMatchObject({ isError: false, text: 'quick result' })
})

test('a command survives kill -9 of its daemon, and the same call gets its result', async () => {
  const crash = new Crash()
  const pid = await crash.start('command', () => true)
  await expect.poll(() => tryEffects(crash)).toEqual(['ran'])
  await crash.kill()
  const reeve = await crash.goOn()
  crash.release()
  await ended(reeve, pid)
  expect(crash.effects()).toEqual(['ran'])
  expect((await answers(reeve, pid))[0]).toMatchObject({ isError: false, text: 'Exit code 0.\nend' })
})

test('a question survives kill -9, and is asked once', async () => {
  const crash = new Crash()
  const pid = await crash.start('question', () => true)
  await crash.kill()
  const reeve = await crash.goOn()
  for await (const _ of reeve.follow({ after: 0 })) {
    const { approvals } = await reeve.approvals({})
    if (approvals.length === 0) continue
    expect(approvals).toHaveLength(1)
    await reeve.reply({ id: approvals[0]?.id ?? '', value: 'yes' })
    break
  }
  await ended(reeve, pid)
  expect((await answers(reeve, pid))[0]).toMatchObject({ isError: false, text: 'yes' })
})

function tryEffects(crash: Crash): readonly string[] {
  try {
    return crash.effects()
  } catch {
    return []
  }
}
