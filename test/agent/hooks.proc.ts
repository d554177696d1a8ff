import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Embedded, embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import type { Json, JsonObject } from '../../src/core/json/json.ts'
import { builtFixture } from '../built-file.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const WAIT_MS = 60_000
const SAYS = { parts: [{ text: 'Done.' }] }

function optionsOf({ store, keeperHome }: TempReeve) {
  return { store, commands: { home: keeperHome.folder, environment: 'inherit', shell: '/bin/sh' } } as const
}

function call(tool: string, input: JsonObject) {
  return { parts: [{ tool, input }] }
}

/** The results of tool calls, as the model reads them. */
async function resultsOf(reeve: Embedded, pid: string): Promise<readonly string[]> {
  const answered = await payloads(reeve, pid, 'tool_answered')
  return answered.map(({ parts }) => (parts as readonly JsonObject[]).map(({ text }) => text).join('\n'))
}

/** The commands that hooks of an agent are, the oldest first. */
async function hooksOf(reeve: Embedded, pid: string) {
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command', status: 'any' } })
  return processes.map(({ record }) => record).toSorted((a, b) => a.createdAt - b.createdAt)
}

test('hooks run before turns and before and after tools, as commands below the agent, each once', async () => {
  const { reeve, start, workspace } = await scriptedAgents(optionsOf(new TempReeve()))
  const note = (name: string) => `cat >> ${name}.log; echo said by ${name}`
  const pid = await start(
    [
      call('write_file', { path: 'secret.txt', content: 'x' }),
      call('write_file', { path: 'a.txt', content: 'x' }),
      SAYS,
    ],
    {
      goal: 'go',
      hooks: [
        { event: 'session_start', run: note('session') },
        { event: 'turn_start', run: note('turn') },
        {
          event: 'before_tool',
          tools: ['write_file'],
          run: 'if grep -q secret.txt; then echo no secrets here >&2; exit 2; fi',
        },
        { event: 'before_tool', tools: ['read_file'], run: 'touch never' },
        { event: 'after_tool', run: note('after') },
      ],
    },
  )
  expect(await reeve.waitAgent({ pid, timeoutMs: WAIT_MS })).toMatchObject({ turn: { reason: 'finished' } })
  const [blocked, written] = await resultsOf(reeve, pid)
  expect(blocked).toContain('A hook blocked this call; it did not run. no secrets here')
  expect(existsSync(join(workspace, 'secret.txt'))).toBe(false)
  expect(written).toContain('Note of a hook: said by after')
  expect(existsSync(join(workspace, 'a.txt'))).toBe(true)
  expect(existsSync(join(workspace, 'never'))).toBe(false)
  const notes = await payloads(reeve, pid, 'system_item')
  expect(notes.map(({ parts }) => (parts as readonly JsonObject[])[0]?.['text'])).toEqual([
    'Note of a hook: said by session',
    'Note of a hook: said by turn',
  ])
  const read = (name: string) => {
    const line = readFileSync(join(workspace, `${name}.log`), 'utf8')
    expect(line.endsWith('}\n')).toBe(true)
    return JSON.parse(line)
  }
  expect(read('turn')).toEqual({ event: 'turn_start', agent: pid, turn: 1 })
  expect(read('after')).toMatchObject({
    event: 'after_tool',
    agent: pid,
    tool: 'write_file',
    input: { path: 'a.txt' },
    isError: false,
  })
  const commands = await hooksOf(reeve, pid)
  expect(commands.map(({ identity }) => identity.label)).toEqual([
    'hook session_start',
    'hook turn_start',
    'hook before_tool write_file',
    'hook before_tool write_file',
    'hook after_tool write_file',
  ])
  expect(commands.map(({ causedBy }) => causedBy)).toMatchObject(commands.map(() => ({ source: 'hook' })))
  await reeve.runAgent({ pid, text: 'again' })
  await reeve.waitAgent({ pid, turn: 2, timeoutMs: WAIT_MS })
  const labels = (await hooksOf(reeve, pid)).map(({ identity }) => identity.label)
  expect(labels.filter((label) => label === 'hook session_start')).toHaveLength(1)
  expect(labels.filter((label) => label === 'hook turn_start')).toHaveLength(2)
})

test('a hook that fails, takes too long or is denied is in the session log, and the turn goes on', async () => {
  const { reeve, start } = await scriptedAgents(optionsOf(new TempReeve()))
  const pid = await start([call('list_files', {}), SAYS], {
    hooks: [
      { event: 'turn_start', run: 'echo broken; exit 7' },
      { event: 'turn_start', run: 'sleep 600', timeoutMs: 200 },
      { event: 'before_tool', run: 'rm -rf forbidden' },
    ],
  })
  await reeve.addRule({ to: { type: 'process', pid }, rule: { effect: 'deny', resource: 'shell:rm' } })
  await reeve.runAgent({ pid, text: 'go' })
  expect(await reeve.waitAgent({ pid, turn: 1, timeoutMs: WAIT_MS })).toMatchObject({
    turn: { reason: 'finished' },
  })
  const failed = await payloads(reeve, pid, 'agent_failed')
  expect(failed.map(({ code }) => code)).toEqual(['hook_failed', 'hook_failed', 'hook_failed'])
  expect(failed[0]?.['message']).toContain('exit code 7. broken')
  expect(failed[1]?.['message']).toContain('timeout')
  expect(failed[2]?.['message']).toContain('rm')
  expect(await resultsOf(reeve, pid)).toHaveLength(1)
})

test('hooks of a workspace do nothing until a person trusts exactly this version', async () => {
  const { reeve, start, workspace } = await scriptedAgents(optionsOf(new TempReeve()))
  mkdirSync(join(workspace, '.reeve'))
  const path = join(workspace, '.reeve/hooks.json')
  const write = (name: string) =>
    writeFileSync(path, JSON.stringify({ hooks: [{ event: 'turn_start', run: `touch ${name}` }] }))
  const turn = async (pid: string, number: number) => {
    await reeve.runAgent({ pid, text: 'go' })
    await reeve.waitAgent({ pid, turn: number, timeoutMs: WAIT_MS })
  }
  const [pid, trust] = [await start({ answers: [SAYS], atEnd: 'repeat' }), trustIn(reeve, workspace)]
  write('one')
  await turn(pid, 1)
  expect(existsSync(join(workspace, 'one'))).toBe(false)
  expect(await payloads(reeve, pid, 'agent_failed')).toMatchObject([{ code: 'hooks_inert' }])
  expect(await trust()).toMatchObject({ kind: 'hooks', state: 'trusted' })
  await turn(pid, 2)
  expect(existsSync(join(workspace, 'one'))).toBe(true)
  write('two')
  await turn(pid, 3)
  expect(existsSync(join(workspace, 'two'))).toBe(false)
  expect(await payloads(reeve, pid, 'agent_failed')).toHaveLength(2)
})

function trustIn(reeve: Embedded, folder: string) {
  return async () => {
    const [file] = (await reeve.agentFiles({ folder, kind: 'hooks' })).files
    return reeve.trustFile({ path: file?.path ?? '', hash: file?.hash ?? '' })
  }
}

const FIXTURE = builtFixture('hook-agent')
const UNTIL_RELEASED = 'echo ran >> effects; while [ ! -e released ]; do sleep 0.05; done'

test('after kill -9 in the middle of a hook the next program waits for the same command, and its answer counts', async () => {
  const temp = new TempReeve()
  const workspace = tempFolder()
  const answers: Json = [call('list_files', {}), SAYS]
  writeFileSync(join(workspace, 'script.json'), JSON.stringify({ answers }))
  const spec = {
    agent: 'helper',
    model: 'scripted/script.json',
    goal: 'go',
    hooks: [{ event: 'before_tool', run: `${UNTIL_RELEASED}; echo not now; exit 2` }],
  }
  const args = [temp.store, temp.keeperHome.folder, workspace, JSON.stringify(spec)]
  const child = spawn(process.execPath, [FIXTURE, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [pid] = (await once(createInterface(child.stdout), 'line')) as [string]
  await expect.poll(() => existsSync(join(workspace, 'effects')), { timeout: WAIT_MS }).toBe(true)
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  const reeve = await embed(optionsOf(temp))
  onTestFinished(() => reeve.close())
  writeFileSync(join(workspace, 'released'), '')
  await reeve.waitAgent({ pid, turn: 1, timeoutMs: WAIT_MS })
  expect((await resultsOf(reeve, pid))[0]).toContain('A hook blocked this call; it did not run. not now')
  expect(readFileSync(join(workspace, 'effects'), 'utf8')).toBe('ran\n')
  expect(await hooksOf(reeve, pid)).toHaveLength(1)
})
