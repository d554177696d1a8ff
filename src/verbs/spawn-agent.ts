import * as z from 'zod'
import { MAX_PATHS } from '../core/lien/lien.ts'
import { agentFields, modelId } from './shapes/agent.ts'
import { amounts } from './shapes/allowance.ts'
import { record } from './shapes/record.ts'
import { recognised } from './shapes/registration.ts'
import { ruleJson } from './shapes/rule.ts'
import { folder, processRef } from './shapes/scalars.ts'
import { spawnKey } from './spawn.ts'
import { verb } from './verb.ts'

const {
  image,
  fallbacks,
  effort,
  maxOutputTokens,
  system,
  context,
  tools,
  writtenTools,
  once,
  softLimits,
  delegation,
  program,
} = agentFields

/** What a new agent below another one is given. */
export const childFields = () => ({
  goal: z.string().min(1).max(100_000).describe('what it is to do'),
  context,
  role: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe('the name of its role; that of its image or of its parent by default'),
  image: image.describe(
    'the image that it is made from; what neither the request nor the image says is as in its parent',
  ),
  model: modelId.exactOptional(),
  fallbacks,
  effort,
  maxOutputTokens,
  system,
  writtenTools: writtenTools.describe(
    'tools that its parent has written, or may call itself; none by default',
  ),
  tools: tools.describe('the tools that it may call, of those of its parent; all of them by default'),
  once,
  softLimits,
  delegation,
  program,
  paths: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(MAX_PATHS)
    .exactOptional()
    .describe(
      'files and folders of the workspace that it alone may write until it ends, and nothing else; relative to the workspace of its parent',
    ),
  workspace: z
    .strictObject({
      worktree: z
        .literal(true)
        .describe('a git worktree of its own, on a new branch from the last commit of its parent'),
    })
    .exactOptional()
    .describe('a workspace of its own; that of its parent by default'),
  cwd: folder.exactOptional().describe('its folder, inside that of its parent'),
  allowance: amounts
    .exactOptional()
    .describe('its share of what its parent may use; a missing name gets half of what the parent has left'),
  preset: z
    .string()
    .max(100)
    .exactOptional()
    .describe('observe, ask, edit or full: the most that it may do, within what its parent may do'),
  ceiling: z
    .strictObject({ rules: z.array(ruleJson).max(100).describe('rules as those of addRule') })
    .exactOptional()
    .describe('the most that it may do, as rules; instead of a preset'),
  label: z.string().min(1).max(200).exactOptional().describe('a name for people'),
  ...recognised,
})

export const spawnAgent = verb({
  summary:
    'Starts an agent below another one, with a goal, a share of its allowance and a part of its rights.',
  description:
    'The child has a session of its own, below that of its parent, and works in the folder of the parent unless `cwd` says otherwise. Without a model it uses that of the parent. It is up and has taken its goal when the answer comes, or nothing has changed. The parent gets a report of every turn that it asked for, and of the end.',
  route: 'POST /agents',
  needs: 'operate',
  repeat: spawnKey,
  idempotencyHeader: true,
  input: () =>
    z.strictObject({
      parent: processRef.describe('the agent that it works for: a pid or a name'),
      ...childFields(),
    }),
  output: () =>
    z.strictObject({
      type: z
        .enum(['started', 'existing', 'asked'])
        .describe(
          'started: it is at work; existing: the request was made before; asked: a person decides first',
        ),
      record: record.describe('the child'),
    }),
  codes: [
    'unknown_pid',
    'pruned_pid',
    'ambiguous_pid',
    'denied',
    'invalid_request',
    'invalid_rule',
    'not_available',
    'not_found',
    'untrusted',
    'conflict',
    'path_held',
    'already_ended',
    'stopping',
    'depth_exceeded',
    'limit_exceeded',
    'payload_too_large',
    'session_ended',
    'session_unknown',
    'replay_conflict',
  ],
})
