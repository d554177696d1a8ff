import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder, tempStore } from '../../temp-folder.ts'
import { payloads } from '../scripted-agent.ts'
import { changesOf, memoryAgents } from './memory-agents.ts'

const FIXTURE = fileURLToPath(new URL('../../fixtures/memory-agent.ts', import.meta.url))

/** Runs an agent in a program of its own, and kills that with SIGKILL in a call of the model of its memory: behind these answers. */
async function killedBehind(answers: readonly string[]) {
  const [store, workspace] = [tempStore(), tempFolder()]
  const args = ['--conditions=reeve-source', FIXTURE, store, workspace, JSON.stringify(answers)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let pid = ''
  let called = 0
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as { pid?: string; called?: true }
    pid = said.pid ?? pid
    if (said.called === true) called += 1
    if (pid !== '' && called > answers.length) break
  }
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  return { store, workspace, pid }
}

test('a job goes on after kill -9 during the extract: the model is asked again, and the lost call is charged as an estimate', async () => {
  const { store, workspace, pid } = await killedBehind([])
  const { reeve, keep, lastJob, jobs } = await memoryAgents({ store })
  await keep(['A fact.'], { 'memory/facts.md': 'A fact.\n' })
  expect(await lastJob(pid)).toMatchObject({ status: 'completed' })
  expect(await jobs(pid)).toHaveLength(1)
  expect(readFileSync(join(workspace, 'memory/facts.md'), 'utf8')).toBe('A fact.\n')
  const used = (await payloads(reeve, pid, 'model_used')).filter(({ memory }) => memory === true)
  expect(used.map(({ isEstimate }) => isEstimate)).toEqual([true, false, false])
})

test('a job goes on after kill -9 during the consolidation: the extract is not made again', async () => {
  const { store, workspace, pid } = await killedBehind(['["A fact."]'])
  const { keeper, lastJob } = await memoryAgents({ store })
  const consolidate = await keeper.next()
  expect(consolidate.prompt).toContain('A fact.')
  consolidate.answer(changesOf({ 'memory/facts.md': 'A fact.\n' }))
  expect(await lastJob(pid)).toMatchObject({ status: 'completed' })
  expect(readFileSync(join(workspace, 'memory/facts.md'), 'utf8')).toBe('A fact.\n')
})
