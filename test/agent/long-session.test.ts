import { expect, test } from 'vitest'
import { isLongRun } from '../long-run.ts'
import { type ChatMessage, orderComplaint } from '../model/strict-checks.ts'
import { Random } from '../simulation/random.ts'
import { localAgents, tooLong } from './local-server.ts'
import { payloads } from './scripted-agent.ts'

const SEED = Number(process.env['REEVE_SEED'] ?? 1)
const TURNS = isLongRun ? 2_000 : 120
const WINDOW = 40_000
const GOAL = 'Keep the ledger of the harbour.'

test(`a generated session of ${TURNS} turns is shortened at a random point and whenever its window is nearly full: every prompt is valid, has the goal, and its cost is on record`, {
  timeout: isLongRun ? 3_600_000 : 120_000,
}, async () => {
  const random = new Random(SEED)
  const complaints: string[] = []
  const { reeve, start, turn, asked } = await localAgents(
    (request, index) => {
      const refused = tooLong(request, WINDOW)
      if (refused !== null) {
        complaints.push(`request ${index} has ${request.tokens} tokens`)
        return refused
      }
      if (request.kind === 'summary') return { text: 'The ledger is kept.' }
      const { messages } = JSON.parse(request.body) as { messages: readonly ChatMessage[] }
      const complaint = orderComplaint(messages)
      if (complaint !== undefined) complaints.push(complaint)
      if (!request.body.includes(GOAL)) complaints.push(`request ${index} has no goal`)
      const isAsked = messages.at(-1)?.role === 'user' && random.chance(0.5)
      return isAsked
        ? { calls: [{ id: `c${index}`, name: 'list_files', text: JSON.stringify({ path: '.' }) }] }
        : { text: `done ${'word '.repeat(random.between(0, 300))}` }
    },
    { 'local/m': { contextWindow: WINDOW } },
  )
  const pid = await start()
  const at = random.between(1, TURNS - 1)
  for (let count = 0; count < TURNS; count++) {
    const text = count === 0 ? GOAL : `entry ${count} ${'word '.repeat(random.between(0, 1_500))}`
    expect(await turn(pid, { text })).toMatchObject({ reason: 'finished' })
    if (count !== at) continue
    const { turn: shortened } = await reeve.compactAgent({ pid })
    expect(await reeve.waitAgent({ pid, turn: shortened })).toMatchObject({ turn: { reason: 'finished' } })
  }
  expect(complaints).toEqual([])
  const summaries = asked.filter(({ kind }) => kind === 'summary').length
  expect(summaries).toBeGreaterThan(1)
  const { total, turns } = await reeve.agentCost({ pid, limit: 1_000 })
  // Each request is a call whose use is on record, those for summaries as well.
  expect(total.inputTokens).toBeGreaterThan(0)
  if (TURNS < 1_000) expect(turns.flatMap(({ calls }) => calls)).toHaveLength(asked.length)
  const alerts = (await payloads(reeve, pid, 'agent_alerted')).filter(({ alert }) => alert !== 'stalled')
  expect(alerts).toEqual([])
})
