import { expect, test } from 'vitest'
import { workspaceOfRequest } from '../../../src/core/approval/rule-level.ts'

const BOUND = [
  'home',
  'workspace:/',
  'workspace:/w',
  'workspace:/w/app',
  'workspace:/w/app/src',
  'session:s1',
]

function asked(cwd: string | null, boundBy: readonly string[] = BOUND) {
  return { action: { cwd }, boundBy }
}

test.each([
  ['the innermost workspace that has the folder', '/w/app/src', ['/w', '/w/app'], 'workspace:/w/app'],
  ['the folder itself, without a workspace around it', '/w/app/src', ['/x'], 'workspace:/w/app/src'],
  ['the first workspace, for an action without a folder', null, ['/w', '/x'], 'workspace:/w'],
])('a rule of the workspace goes to %s', (_, cwd, workspaces, subject) => {
  expect(workspaceOfRequest('a1', asked(cwd), { workspaces, machine: null })).toBe(subject)
})

test('it goes to the workspace of this machine', () => {
  const boundBy = ['home', 'workspace:/w', 'workspace:m1:/w']
  expect(workspaceOfRequest('a1', asked('/w', boundBy), { workspaces: [], machine: 'm1' })).toBe(
    'workspace:m1:/w',
  )
})

test.each([
  ['without a folder', null, [], BOUND],
  ['whose rules do not bind the request', '/elsewhere', [], BOUND],
  ['that no pattern can name', '/w/[a]', [], ['home', 'workspace:/w/[a]']],
])('it is refused for an action %s', (_, cwd, workspaces, boundBy) => {
  expect(workspaceOfRequest('a1', asked(cwd, boundBy), { workspaces, machine: null })).toMatchObject({
    code: 'invalid_input',
  })
})
