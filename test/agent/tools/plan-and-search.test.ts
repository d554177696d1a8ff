import { expect, test } from 'vitest'
import { planTool } from '../../../src/agent/tools/plan-list.ts'
import { toolSearchTool } from '../../../src/agent/tools/tool-search.ts'
import { EMPTY_PLAN, type PlanList } from '../../../src/core/plan/plan-list.ts'
import { callerOf } from './call-tool.ts'

test('an agent makes a plan, changes it, and reads it; a wrong change changes nothing', async () => {
  let kept: PlanList = EMPTY_PLAN
  const { text, refused } = callerOf([
    planTool({
      plan: () => kept,
      keep: async (plan) => {
        kept = plan
      },
    }),
  ])
  expect(await text('plan', { changes: [] })).toBe('The plan is empty.')
  const items = [{ text: 'read' }, { text: 'write', status: 'in_progress' }]
  await text('plan', { changes: [{ type: 'replace', items }] })
  const changes = [
    { type: 'set', item: 1, status: 'done' },
    { type: 'add', text: 'think', after: 1 },
    { type: 'add', text: 'test' },
  ]
  expect(await text('plan', { changes })).toBe(
    '1. [x] read\n2. [ ] think\n3. [>] write\n4. [ ] test\n(1 done, 3 left)',
  )
  const before = kept
  const wrong = [
    { type: 'add', text: 'more' },
    { type: 'set', item: 9, status: 'done' },
  ]
  expect(await refused('plan', { changes: wrong })).toMatchObject({
    message: 'The plan has no item 9; its items are 1 to 5.',
  })
  expect(kept).toBe(before)
  const many = Array.from({ length: 47 }, () => ({ type: 'add', text: 'x' }))
  expect(await refused('plan', { changes: many })).toMatchObject({ code: 'invalid_input' })
})

test('tool_search describes tools that are not declared, and reports which were found', async () => {
  const further = [planTool({ plan: () => EMPTY_PLAN, keep: async () => undefined })]
  const { call, text } = callerOf([toolSearchTool({ searchable: () => further })])
  expect(await text('tool_search', { query: 'plan items' })).toMatch(
    /^plan: Reads and changes your plan.*\ninput: \{"type":"object"/,
  )
  expect(await call('tool_search', { query: 'plan items' })).toMatchObject({ found: ['plan'] })
  expect(await text('tool_search', { query: 'weather' })).toBe(
    'None of 1 further tools fits "weather". Use other words.',
  )
})
