import type { OutputOf } from '../../verbs/reeve.ts'
import type { Printer } from '../print/printer.ts'
import { ago } from '../print/times.ts'

type Cost = Pick<OutputOf<'agentCost'>['total'], 'cost' | 'unpriced'>
type Used = Cost & Pick<OutputOf<'agentCost'>['total'], 'inputTokens' | 'outputTokens'>

export function printAgents(print: Printer, agents: OutputOf<'agents'>['agents']): void {
  const { bold, dim, green, yellow } = print.colours
  const paints = { idle: dim, running: green, paused: yellow, ended: dim }
  const now = Date.now()
  print.table(
    [
      { title: 'AGENT' },
      { title: 'PHASE' },
      { title: 'TURNS', align: 'right' },
      { title: 'TOKENS', align: 'right' },
      { title: 'COST', align: 'right' },
      { title: 'ACTIVE' },
      { title: 'MODEL', shrinks: true },
      { title: 'WORKSPACE', flexible: true },
    ],
    agents.map((agent) => [
      { text: agent.name ?? agent.pid, paint: bold },
      agent.waitsFor === null
        ? { text: agent.phase, paint: paints[agent.phase] }
        : { text: `waits: ${agent.waitsFor}`, paint: yellow },
      { text: String(agent.turns) },
      { text: tokenCount(agent.inputTokens + agent.outputTokens) },
      { text: costText(agent) },
      { text: ago(agent.lastActivityAt, now), paint: dim },
      { text: agent.model },
      { text: agent.workspace ?? '', paint: dim },
    ]),
  )
}

export function printCost(print: Printer, { turns, total, tree }: OutputOf<'agentCost'>): void {
  print.table(
    [
      { title: 'TURN', align: 'right' },
      { title: 'CALLS', align: 'right' },
      { title: 'IN', align: 'right' },
      { title: 'OUT', align: 'right' },
      { title: 'COST', align: 'right' },
    ],
    [
      ...turns.map((turn) => costRow(String(turn.turn), String(turn.calls.length), turn)),
      costRow('all', '', total),
      costRow('with children', '', tree),
    ],
  )
}

function costRow(title: string, calls: string, used: Used) {
  return [title, calls, tokenCount(used.inputTokens), tokenCount(used.outputTokens), costText(used)].map(
    (text) => ({
      text,
    }),
  )
}

/** An unknown cost is not 0. */
export function costText({ cost, unpriced }: Cost): string {
  if (cost === null) return unpriced === 0 ? '' : 'unknown'
  const text = cost === 0 ? '$0' : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`
  return unpriced === 0 ? text : `${text} + ${unpriced} unknown`
}

export function tokenCount(count: number): string {
  if (count < 1_000) return String(count)
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}
