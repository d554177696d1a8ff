import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { embed } from 'reeve'
import { expect, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const KINDS = {
  command: { kind: 'command', spec: { run: 'true' } },
  agent: { kind: 'agent', spec: { agent: 'coder' } },
  workflow: { kind: 'workflow', spec: { workflow: 'publish' } },
  tool: { kind: 'tool', spec: { tool: 'grep' } },
  external: { kind: 'external', spec: { description: 'a build elsewhere' } },
} as const

test('everything that runs is a process: one list, one record shape, one set of verbs for every kind', async () => {
  const reeve = await embed({ store: tempStore() })
  for (const request of Object.values(KINDS)) await reeve.spawn(request)
  const { processes } = await reeve.list({})
  expect(processes.map(({ record }) => record.kind)).toEqual(Object.keys(KINDS))
  const fields = processes.map(({ record }) => Object.keys(record).sort())
  expect(new Set(fields.map((names) => names.join())).size).toBe(1)
  for (const { record } of processes) {
    await reeve.signal({ pid: record.pid, signal: 'pause' })
    await reeve.signal({ pid: record.pid, signal: 'resume' })
    const ended = await reeve.abandon({ pid: record.pid, reason: 'nobody runs it' })
    expect(ended.outcome?.status).toBe('abandoned')
  }
  await reeve.close()
})

test('the store has one table of processes, and none of jobs or tasks', async () => {
  const file = tempStore()
  const reeve = await embed({ store: file })
  await reeve.close()
  const db = new DatabaseSync(file)
  const tables = db
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
    .all()
    .map((row) => row['name'])
  db.close()
  rmSync(file)
  expect(tables.filter((name) => /job|task|run|worker|workflow/.test(String(name)))).toEqual([])
  expect(tables).toContain('process')
})
