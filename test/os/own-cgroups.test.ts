import { expect, test } from 'vitest'
import { ownCgroupsIn } from '../../src/os/own-cgroups.ts'

const v1AndV2 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`
const pureV2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n'

test('with v1 and v2 beside each other, each has its own folder', () => {
  expect(ownCgroupsIn(v1AndV2, '4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/user/a\n')).toEqual({
    unified: '/sys/fs/cgroup/unified/user/a',
    memoryV1: '/sys/fs/cgroup/memory/jobs/7',
  })
})

test('with v2 alone there is no v1 folder', () => {
  expect(ownCgroupsIn(pureV2, '0::/system.slice/x.service\n')).toEqual({
    unified: '/sys/fs/cgroup/system.slice/x.service',
    memoryV1: null,
  })
})

test('a mount of a part of a hierarchy shows only the groups below that part', () => {
  const part = '30 23 0:26 /box/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n'
  expect(ownCgroupsIn(part, '0::/box/1/a\n').unified).toBe('/sys/fs/cgroup/a')
  expect(ownCgroupsIn(part, '0::/box/1\n').unified).toBe('/sys/fs/cgroup')
  expect(ownCgroupsIn(part, '0::/box/2\n').unified).toBeNull()
  expect(ownCgroupsIn(pureV2, '0::/../elsewhere\n').unified).toBeNull()
})

test('a mount point may have a space, and a group a colon', () => {
  const spaced = '30 23 0:26 / /mnt/c\\040g rw - cgroup2 cgroup2 rw\n'
  expect(ownCgroupsIn(spaced, '0::/a:b\n').unified).toBe('/mnt/c g/a:b')
})

test('without cgroups there are no folders', () => {
  expect(ownCgroupsIn('22 1 0:5 / /proc rw - proc proc rw\n', '')).toEqual({ unified: null, memoryV1: null })
  expect(ownCgroupsIn(v1AndV2, '')).toEqual({ unified: null, memoryV1: null })
  expect(ownCgroupsIn(pureV2, '0::/gone (deleted)\n').unified).toBeNull()
})
