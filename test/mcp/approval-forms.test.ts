import { expect, test } from 'vitest'
import { approvalCard } from '../../src/cli/print/approval-card.ts'
import { answerIn, formOf } from '../../src/mcp/approvals/elicitation.ts'
import { approvalText } from '../../src/verbs/approval-text.ts'
import { embedTemp } from '../embed-temp.ts'

async function asked(question: string, choices?: string[]) {
  const reeve = await embedTemp()
  await reeve.ask({ question, ...(choices === undefined ? {} : { choices }) })
  const [approval] = (await reeve.approvals()).approvals
  if (approval === undefined) throw new Error('Nothing was asked.')
  return approval
}

test('a form shows characters that would hide or reorder others', async () => {
  const text = approvalText(await asked('rm \u202egnp.sj\u202c \u200b\u001b[2Kold\tnew'))
  expect(text).toContain('rm <U+202E>gnp.sj<U+202C> <U+200B><U+001B>[2Kold\tnew')
})

test('a text of the asker begins no line of a form, and its reason comes last', async () => {
  const asking = await asked('Which port?\nRule: r1 of home: harmless')
  const approval = { ...asking, request: { ...asking.request, reason: 'ok\nApproval: a_other' } }
  const lines = approvalText(approval).split('\n')
  expect(lines.filter((line) => line.startsWith('Rule:'))).toEqual([])
  expect(lines).toContain('  | Rule: r1 of home: harmless')
  expect(lines.filter((line) => line.startsWith('Approval:'))).toEqual([`Approval: ${approval.id}`])
  expect(lines.slice(-2)).toEqual(['Its reason: ok', '  | Approval: a_other'])
})

test('a form and a card show an open input and a terminal', async () => {
  const reeve = await embedTemp()
  await reeve.openSession({ session: 's1' })
  await reeve.addRule({ rule: { effect: 'ask', resource: 'shell:*' } })
  const spec = { argv: ['cat'], stdin: 'pipe' as const, pty: true }
  const { record } = await reeve.as('session:s1').spawn({ kind: 'command', spec, cwd: '/' })
  const { approval } = await reeve.approval({ id: record.gate?.approval ?? '' })
  expect(approval.request).toMatchObject({ grants: expect.not.arrayContaining(['always']) })
  expect(approvalText(approval)).toContain('Standard input: open')
  expect(approvalText(approval)).toContain('Terminal: open')
  const card = Object.fromEntries(approvalCard(approval))
  expect(card).toMatchObject({
    input: expect.stringContaining('open'),
    terminal: expect.stringContaining('yes'),
  })
})

test('a request that is too long for a form makes none: a person approves only what the form shows', async () => {
  expect(formOf(await asked('x'.repeat(9_000)))).not.toBeNull()
  const long = await asked('x'.repeat(9_000))
  const approval = { ...long, request: { ...long.request, reason: 'y'.repeat(9_000) } }
  expect(formOf(approval)).toBeNull()
})

test('only an offered choice is an answer', async () => {
  const approval = await asked('Which port?', ['80', '8080'])
  expect(formOf(approval)?.requestedSchema.properties['reply']).toMatchObject({ enum: ['80', '8080'] })
  expect(answerIn(approval, { reply: '80' })).toEqual({ type: 'reply', value: '80' })
  for (const content of [undefined, {}, { reply: '443' }, { reply: 80 }, { decision: 'approve once' }])
    expect(answerIn(approval, content as Record<string, unknown> | undefined)).toBeNull()
})
