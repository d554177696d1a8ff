import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Embedded, embedWith } from '../../../src/embed/embed.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { DyingStore, type LivingHolders } from '../../dying-store.ts'
import { tempStore } from '../../temp-folder.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { AgentBench, answers, ended } from './agent-bench.ts'
import { FakeAgents, type FakeCall } from './fake-agent.ts'

const read: FakeCall = { tool: 'read_file', input: { path: 'a.txt' } }
const edit = (oldText: string, newText: string): FakeCall => ({
  tool: 'edit_file',
  input: { path: 'a.txt', edits: [{ oldText, newText }] },
})

/** A workspace with `a.txt`, in which one kernel dies and another follows it. */
class Restart {
  readonly bench = new AgentBench()
  readonly file = join(this.bench.workspace, 'a.txt')
  readonly #living: LivingHolders = new Set()

  constructor() {
    writeFileSync(this.file, 'one\n')
  }

  /** An agent makes the calls `before`; its kernel dies after `meanwhile`; in the next kernel the agent makes the calls `after`. */
  async killBetween(
    before: readonly FakeCall[],
    after: readonly FakeCall[],
    meanwhile: (first: Embedded) => Promise<void> | void = () => undefined,
  ): Promise<readonly string[]> {
    const store = await openSqlite(tempStore())
    onTestFinished(() => store.close())
    const dying = new DyingStore(store, null, this.#living)
    const reached = Promise.withResolvers<void>()
    const first = await this.#open(dying, () => {
      reached.resolve()
      return new Promise<never>(() => {})
    })
    const calls = [...before, { tool: 'gate' }, ...after]
    const pid = await this.bench.start(
      first,
      calls.map((call) => [call]),
    )
    await reached.promise
    await meanwhile(first)
    dying.die()
    const second = await this.#open(new DyingStore(store, null, this.#living), async () => 'open')
    onTestFinished(() => second.close())
    await ended(second, pid)
    return (await answers(second, pid)).map(({ text }) => text)
  }

  #open(dying: DyingStore, gate: () => Promise<string>): Promise<Embedded> {
    const run = { name: 'gate', description: 'waits', input: z.object({}), recovery: 'rerunnable' } as const
    return embedWith(
      { store: dying.store, tools: [defineTool({ ...run, run: gate })], ...TEST_PRESET },
      { agentDriver: (toolbox) => new FakeAgents(toolbox, this.bench.scripts) },
    )
  }
}

test('after kill -9 an agent may edit a file that it read before', async () => {
  const restart = new Restart()
  const texts = await restart.killBetween([read], [edit('one', 'two')])
  expect(texts).toEqual(['1\tone', 'open', 'Edited a.txt: 1 replacement, line 1.'])
  expect(readFileSync(restart.file, 'utf8')).toBe('two\n')
})

test('after kill -9 an agent may edit a file again that it edited before', async () => {
  const texts = await new Restart().killBetween([read, edit('one', 'two')], [edit('two', 'three')])
  expect(texts.at(-1)).toBe('Edited a.txt: 1 replacement, line 1.')
})

test('after kill -9 a file that was never read is refused', async () => {
  const restart = new Restart()
  const texts = await restart.killBetween([], [edit('one', 'two')])
  expect(texts.at(-1)).toBe('a.txt exists, and you have not read it. Read it first.')
  expect(readFileSync(restart.file, 'utf8')).toBe('one\n')
})

test('after kill -9 a file that another program has changed is refused', async () => {
  const restart = new Restart()
  const texts = await restart.killBetween([read], [edit('one', 'two')], () =>
    writeFileSync(restart.file, 'one more\n'),
  )
  expect(texts.at(-1)).toBe(
    'a.txt was changed since you read it. Read it again, then repeat the change if it is still right.',
  )
  expect(readFileSync(restart.file, 'utf8')).toBe('one more\n')
})

test('after kill -9 the refusal names the agent that wrote before the kill', async () => {
  const restart = new Restart()
  let writer = ''
  const texts = await restart.killBetween([read], [edit('one', 'two')], async (first) => {
    writer = await restart.bench.start(first, [[read], [edit('one', 'uno')]])
    await ended(first, writer)
  })
  expect(texts.at(-1)).toBe(
    `a.txt was changed by agent ${writer} since you read it. Read it again, then repeat the change if it is still right.`,
  )
  expect(readFileSync(restart.file, 'utf8')).toBe('uno\n')
})
