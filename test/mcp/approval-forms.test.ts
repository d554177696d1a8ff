import { expect, test } from 'vitest'
import { approvalText } from '../../src/mcp/approvals/approval-text.ts'
import { answerIn, formOf } from '../../src/mcp/approvals/elicitation.ts'
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

test('a request that is too long for a form makes none: nobody approves what he does not see', async () => {
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
