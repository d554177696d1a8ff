import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Embedded, embedWith } from '../../../src/embed/embed.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { answers, ended } from './agent-bench.ts'
import { FakeAgents, type Script } from './fake-agent.ts'

/** A Reeve that runs commands and fake agents in a temporary home. */
class Bench {
  readonly #temp = new TempReeve()
  readonly scripts: Record<string, Script> = {}
  readonly workspace = join(this.#temp.folder, 'work')

  constructor() {
    mkdirSync(this.workspace)
  }

  async open(): Promise<Embedded> {
    const reeve = await embedWith(
      {
        store: this.#temp.store,
        ...TEST_PRESET,
        commands: { home: this.#temp.keeperHome.folder, environment: 'inherit', shell: '/bin/sh' },
      },
      { agentDriver: (toolbox) => new FakeAgents(toolbox, this.scripts) },
    )
    onTestFinished(() => reeve.close())
    return reeve
  }

  async start(reeve: Embedded, script: Script): Promise<string> {
    const name = `agent${Object.keys(this.scripts).length}`
    this.scripts[name] = script
    const spec = { agent: name, model: 'fake/model', goal: 'go', once: true }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: this.workspace, spec })
    return record.pid
  }

  async results(reeve: Embedded, script: Script) {
    const pid = await this.start(reeve, script)
    await ended(reeve, pid)
    return answers(reeve, pid)
  }
}

test('a command runs below its call, and its result has the exit code and the output', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [
    [
      { tool: 'run_command', input: { command: 'pwd; echo oops >&2; exit 3' } },
      { tool: 'run_command', input: { argv: ['printf', '%s', 'a b'] } },
      { tool: 'run_command', input: { command: 'true', cwd: '..' } },
    ],
  ])
  await ended(reeve, pid)
  const [failed, argv, outside] = await answers(reeve, pid)
  expect(failed).toMatchObject({ isError: false, text: `Exit code 3.\n${bench.workspace}\noops` })
  expect(argv?.text).toBe('Exit code 0.\na b')
  expect(outside).toMatchObject({ isError: true, text: expect.stringContaining('outside of the workspace') })
  const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
  const owners = processes.map(({ record }) => record.owner)
  expect(owners).toContainEqual({ session: `agent:${pid}`, toolCall: `${pid}.1.1.0` })
  const { notices } = await reeve.notices({ scope: `session:agent:${pid}` })
  expect(notices).toEqual([])
})

test('long output is cut to its end, and is read in pages from the log', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  const [shown] = await bench.results(reeve, [[{ tool: 'run_command', input: { command: 'seq 1 5000' } }]])
  expect(shown?.text).toContain('the last 80 of 5000 lines')
  expect(shown?.text).toContain('5000')
  const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
  const { result } = processes[0]?.record.outcome ?? {}
  expect(JSON.stringify(result)).not.toContain('4999')
})

test('a background command is written to, read, listed and stopped by later calls', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  const command = 'read x; echo got $x; sleep 600'
  const pidIn = (text = '') => /p_[0-9a-z]{12}/.exec(text)?.[0] ?? ''
  const results = await bench.results(reeve, [
    [{ tool: 'run_command', input: { command, background: true, stdin: true } }],
    ([text]) => [{ tool: 'command_input', input: { pid: pidIn(text), text: 'hello\n' } }],
    ([text]) => [
      { tool: 'list_processes' },
      { tool: 'stop_command', input: { pid: pidIn(text), force: true } },
    ],
    ([text]) => [{ tool: 'command_output', input: { pid: pidIn(text), cursor: 'o0', waitMs: 60_000 } }],
  ])
  const [started, written, listed, stopped, output] = results.map(({ text }) => text)
  const pid = pidIn(started)
  expect(written).toBe('Written.')
  expect(listed).toContain(`${pid} command It is running. ${command}`)
  expect(stopped).toContain('Ended by SIGKILL')
  expect(output).toContain('Cursor o')
})

test('a command of another agent is not visible', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  await bench.results(reeve, [[{ tool: 'run_command', input: { command: 'echo mine' } }]])
  const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
  const pid = processes[0]?.record.pid ?? ''
  const [other] = await bench.results(reeve, [[{ tool: 'command_output', input: { pid } }]])
  expect(other).toMatchObject({ isError: true })
})

test('a command that runs longer than its time goes on in the background, or is ended', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  const results = await bench.results(reeve, [
    [
      { tool: 'run_command', input: { command: 'echo begun; sleep 600', timeoutMs: 300 } },
      { tool: 'run_command', input: { command: 'echo begun; sleep 600', timeoutMs: 300, onTimeout: 'end' } },
    ],
  ])
  expect(results[0]?.text).toContain('runs on in the background')
  expect(results[1]?.text).toMatch(/^(Exit code 143|Ended by SIGTERM) \(.*time.*\)/)
  // It ends with the session of its agent.
  const command = /^p_[0-9a-z]{12}/.exec(results[0]?.text ?? '')?.[0] ?? ''
  expect((await reeve.wait({ pid: command, timeoutMs: 60_000 })).type).toBe('ended')
})

test('a model is told that a person changed its command', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'shell:touch' } })
  const pid = await bench.start(reeve, [[{ tool: 'run_command', input: { command: 'touch a' } }]])
  for await (const _ of reeve.follow({ after: 0 })) {
    const [first] = (await reeve.approvals({})).approvals
    if (first === undefined) continue
    const { spec } = await reeve.show({ pid: first.pid })
    const edited = JSON.parse(JSON.stringify(spec).replaceAll('touch a', 'echo edited'))
    await reeve.approve({ id: first.id, spec: edited })
    break
  }
  await ended(reeve, pid)
  const [result] = await answers(reeve, pid)
  expect(result?.text).toBe('Exit code 0. [approved with changes; ran instead: echo edited]\nedited')
})

test('a command that a rule asks about waits for the person; a denial is what the model reads', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'shell:touch', justification: 'No new files.' } })
  const pid = await bench.start(reeve, [
    [
      { tool: 'run_command', input: { command: 'touch a' } },
      { tool: 'run_command', input: { command: 'echo fine' } },
    ],
  ])
  for await (const _ of reeve.follow({ after: 0 })) {
    const [first] = (await reeve.approvals({})).approvals
    if (first === undefined) continue
    await reeve.deny({ id: first.id, advice: 'Use an existing file.' })
    break
  }
  await ended(reeve, pid)
  const [denied, fine] = await answers(reeve, pid)
  expect(denied).toMatchObject({ isError: true })
  expect(denied?.text).toContain('Use an existing file.')
  expect(denied?.text).toContain('No new files.')
  expect(fine?.text).toBe('Exit code 0.\nfine')
})

test('a cancelled turn ends the command of its call', async () => {
  const bench = new Bench()
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [[{ tool: 'run_command', input: { command: 'sleep 600' } }]])
  const command = await started(reeve)
  await reeve.cancelTurn({ pid, id: 'c1' })
  const waited = await reeve.wait({ pid: command, timeoutMs: 60_000 })
  expect(waited).toMatchObject({ type: 'ended', record: { status: 'cancelled' } })
})

/** The pid of the first command whose program runs. */
async function started(reeve: Embedded): Promise<string> {
  for await (const { type, pid } of reeve.follow({ after: 0 })) if (type === 'program_started') return pid
  throw new Error('The feed has ended')
}
