import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../../keeper/client.ts'
import type { Cell } from './cell.ts'
import { TOOLS } from './tools.ts'

const MAX_TOOLS_CHARS = 10_000
const PID = /p_[0-9a-z]{12}/

/** The client describes all tools to its model, in few characters. */
export async function offersEveryTool({ driver, model }: Cell): Promise<void> {
  if (driver.loadTools !== undefined) {
    const first = await model.tools()
    expect(first.map(({ name }) => name)).toEqual(expect.arrayContaining(['process_start', 'process_wait']))
    await model.call(driver.loadTools.tool, driver.loadTools.input, 'client')
  }
  const tools = await model.tools()
  expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS)
  const chars = tools.reduce((sum, { json }) => sum + json.length, 0)
  expect(chars).toBeLessThanOrEqual(MAX_TOOLS_CHARS)
}

/** Starts a command that goes on over a kill of the daemon, and returns its pid. */
export async function survivesKillBetweenCalls({ call, reeve, folder, door }: Cell): Promise<string> {
  const started = await call('process_start', {
    run: 'pwd; i=0; while read -r line; do i=$((i+1)); echo "$i $line"; done',
    stdin: 'pipe',
    name: 'echo',
    watch: [{ text: 'before' }],
  })
  const pid = PID.exec(started)?.[0] ?? ''
  expect(started).toContain('running')
  // The command runs in the folder that the client works in.
  expect(started).toContain(folder)
  expect(await call('process_write', { pid, text: 'before', enter: true })).toContain('1 before')

  await reeve.killDaemon()
  // Nothing listens at the address of the daemon now; `reeve mcp` would start one.
  if (door === 'http') expect(await call('process_poll', { pid })).not.toContain('running')
  await reeve.restartDaemon()
  const polled = await call('process_poll', { pid })
  expect(polled).toContain(pid)
  expect(polled).toContain('running')
  expect(await call('process_log', { pid })).toContain('1 before')
  expect(await call('process_search', { pid, text: 'before' })).toContain('1 before')
  expect(await call('process_write', { pid: 'echo', text: 'after', enter: true })).toContain('2 after')
  return pid
}

/** The daemon is killed while a call waits for the end of the command that it has started. */
export async function survivesKillDuringCall({ call, reeve, folder, door }: Cell): Promise<void> {
  const gate = join(folder, 'gate')
  const runs = join(folder, 'runs')
  execFileSync('mkfifo', [gate])
  const cutOff = call('process_start', {
    run: `echo begun >> ${runs}; read -r line < ${gate}; echo "got $line"; exit 7`,
    name: 'gated',
    waitMs: 30_000,
  })
  cutOff.catch(() => {})
  await until('the command has begun', () => existsSync(runs))
  await reeve.killDaemon()
  await reeve.restartDaemon()
  await writeFile(gate, 'news\n')
  const result = await cutOff
  // `reeve mcp` repeats the request to the next daemon. Over HTTP no client does: the model gets an error.
  if (door === 'stdio') expect(result).toMatch(/exit code 7.*got news/s)
  else expect(result).not.toContain('got news')
  expect(await call('process_wait', { pid: 'gated' })).toContain('exit code 7')
  expect(await call('process_log', { pid: 'gated' })).toContain('got news')
  expect(readFileSync(runs, 'utf8')).toBe('begun\n')
}

/** What the other parts of the conversation leave out, until no process is left. */
export async function callsEveryOtherTool({ call, door }: Cell, echo: string): Promise<void> {
  if (door === 'stdio')
    expect(await call('process_start', { run: 'agent-tool; exit 3' })).toMatch(
      /exit code 3.*from the PATH of the agent/s,
    )
  const run = "printf 'on the screen'; cat"
  expect(await call('process_start', { run, pty: true, name: 'terminal' })).toContain('running')
  expect(await call('process_screen', { pid: 'terminal' })).toContain('on the screen')
  const listed = await call('process_list')
  expect(listed).toContain(echo)
  expect(listed).toContain('terminal')

  const restarted = await call('process_restart', { pid: echo })
  const next = PID.exec(restarted.replaceAll(echo, ''))?.[0] ?? 'no other pid'
  expect(restarted).toContain(next)
  expect(await call('process_kill', { pid: next })).toMatch(new RegExp(`${next}.*killed`, 's'))
  await call('interrupt', { all: true })
  expect(await call('process_wait', { pid: 'terminal' })).toContain('interrupted')
  expect(await call('inbox')).toMatch(new RegExp(`${echo}.*1 before`, 's'))
}
