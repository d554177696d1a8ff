import * as z from 'zod'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const verifyAudit = verb({
  summary:
    'Verifies the audit: every entry, the chain of their hashes, and the anchors outside of the store.',
  description:
    'An anchor is a position with its hash, which a daemon notes in its home. Each that was not removed by retention must be in the chain. A chain that is longer than its anchors is sound.',
  route: 'GET /audit/verify',
  needs: 'admin',
  input: () => z.strictObject({}),
  output: () =>
    z.union([
      z.strictObject({
        type: z.literal('sound'),
        position: count.describe('of the last entry'),
        hash: z.string().describe('of the last entry; empty if there is none'),
        start: count.describe('the entries up to this position were removed by retention; 0: none was'),
        anchors: count.describe('how many anchors were compared; 0 without a home'),
      }),
      z.strictObject({
        type: z.literal('broken'),
        from: count.describe('the first position that cannot be trusted'),
        reason: z
          .enum(['changed', 'missing', 'rewritten', 'cut', 'unsigned'])
          .describe(
            'changed: the entry differs from what was written. missing: it is not there. rewritten: the chain differs from an anchor. cut: the chain ends before an anchor. unsigned: the entries before the first were removed, and not by this home',
          ),
        anchors: count.describe('how many anchors were compared; 0 without a home'),
      }),
    ]),
  codes: ['denied'],
})
