import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { auditMasking } from '../../src/embed/audit-masking.ts'
import { Redaction } from '../../src/redaction/redaction.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'

const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const KNOWN = 'canary-5e0b7c1d9a3f2468'
const OF_ENV = 'correct-horse-battery'
const INPUT = 'typed-canary-93f1'
const SECRETS = [TOKEN, KNOWN, OF_ENV, INPUT]

/** Everything that the store has in the tables of the audit. */
function storedAudit(store: string): string {
  const db = new DatabaseSync(store, { readOnly: true })
  try {
    return ['audit', 'audit_window']
      .map((table) => JSON.stringify(db.prepare(`select * from ${table}`).all()))
      .join()
  } finally {
    db.close()
  }
}

async function asking() {
  const store = tempStore()
  const reeve = await embedTemp({
    store,
    redact: { values: [KNOWN] },
    tools: { deploy: () => null },
  })
  await reeve.openSession({ session: 's1' })
  for (const resource of ['tool:deploy', 'shell:*'])
    await reeve.addRule({ rule: { effect: 'ask', resource } })
  await reeve.addRule({
    rule: { effect: 'deny', resource: 'tool:remove', justification: `not with ${TOKEN}` },
  })
  return { store, reeve, agent: reeve.as('session:s1') }
}

test('the audit is stored without the secrets of requests, edits, advice, reasons and denials', async () => {
  const { store, reeve, agent } = await asking()
  const deploy = (input: string) => agent.spawn({ kind: 'tool', spec: { tool: 'deploy', input } })
  const edited = (await deploy(`token ${TOKEN}`)).record
  await reeve.approve({ id: edited.gate?.approval ?? '', spec: { tool: 'deploy', input: { say: KNOWN } } })
  const denied = (await deploy(KNOWN)).record
  await reeve.deny({ id: denied.gate?.approval ?? '', advice: `use ${TOKEN}` })
  const stopped = (await deploy('a')).record
  await agent.kill({ pid: stopped.pid, reason: `because of ${KNOWN}` })
  await agent.spawn({ kind: 'tool', spec: { tool: 'remove', input: TOKEN } }).catch(() => undefined)
  await reeve.grant({ session: 's1', pids: [edited.pid], reason: `with ${TOKEN}` })
  await agent.spawn({
    kind: 'command',
    spec: {
      argv: ['deploy', '--user', OF_ENV, KNOWN],
      env: { API_TOKEN: OF_ENV },
      stdin: { text: INPUT },
    },
  })
  const audit = storedAudit(store)
  expect(SECRETS.filter((secret) => audit.includes(secret))).toEqual([])
  expect(audit).toContain('--user')
  expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound' })
})

test('an entry has none of the values that the variables of its specs keep secret', () => {
  const entry = {
    at: 1,
    actor: 'human:ada',
    action: 'answer',
    target: 'process:p_1',
    decision: 'approved',
    rule: { subject: 'home', id: 'r1', text: 'ask  execute shell:deploy' },
    reason: null,
    inputs: { changed: { argv: { from: ['deploy', 'x'], to: ['deploy', OF_ENV] } } },
    trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  } as const
  const mask = auditMasking(new Redaction())
  const masked = mask(entry, [{ argv: ['deploy'] }, { env: { API_TOKEN: OF_ENV, HOME: '/home/ada' } }])
  expect(JSON.stringify(masked)).not.toContain(OF_ENV)
  expect(masked).toMatchObject({ target: entry.target, rule: entry.rule, trace: entry.trace })
  expect(mask(masked, [])).toEqual(masked)
  expect(auditMasking(new Redaction(false))(entry, [])).toBe(entry)
})

test('hashes, pids, folders and rules are stored as they are', async () => {
  const { reeve, agent } = await asking()
  const { record } = await agent.spawn({ kind: 'tool', spec: { tool: 'deploy', input: 'plain words' } })
  await reeve.deny({ id: record.gate?.approval ?? '', advice: 'Open a pull request instead.' })
  const { entries } = await reeve.audit({ target: `process:${record.pid}` })
  expect(entries).toMatchObject([
    {
      decision: 'refused',
      reason: 'Open a pull request instead.',
      inputs: { approval: record.gate?.approval },
    },
    { decision: 'asked', inputs: { act: { tool: 'deploy', input: 'plain words' } } },
  ])
})
