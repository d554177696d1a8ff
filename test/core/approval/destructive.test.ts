import { expect, test } from 'vitest'
import { isDestructive } from '../../../src/core/approval/destructive.ts'
import { command, file, tool } from '../capability/rules.ts'

test('no is the default for what cannot be undone', () => {
  for (const line of [
    'rm -rf build',
    '/bin/rm x',
    'dd if=a of=b',
    'mkfs.ext4 /dev/sda1',
    'git push --force',
    'git push origin main -f',
    'git push --force-with-lease=main origin',
    'git reset --hard HEAD~1',
    'git clean -fdx',
    'git branch -D old',
    'git stash drop',
    'git $ x',
    'git push $',
    'kubectl delete pod a',
    'docker rm -f a',
    'docker volume prune',
    'npm publish',
    'find . -name x -delete',
    'terraform destroy',
  ])
    expect([line, isDestructive([command(line)])]).toEqual([line, true])
  expect(isDestructive([file('delete', 'src/a')])).toBe(true)
})

test('no is not the default for the rest', () => {
  for (const line of [
    'ls -la',
    'git push origin main',
    'git status',
    'git reset x',
    'docker ps',
    'npm test',
    'find . -name delete',
  ])
    expect([line, isDestructive([command(line)])]).toEqual([line, false])
  expect(isDestructive([tool('deploy'), file('write', 'a')])).toBe(false)
})
