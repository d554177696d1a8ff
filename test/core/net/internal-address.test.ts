import fc from 'fast-check'
import { expect, test } from 'vitest'
import { internalKindOf, sameAddressText } from '../../../src/core/net/internal-address.ts'

test.each([
  ['8.8.8.8', undefined],
  ['172.15.255.255', undefined],
  ['172.32.0.0', undefined],
  ['100.128.0.0', undefined],
  ['2606:4700::1111', undefined],
  ['2002:808:808::', undefined],
  ['64:ff9b::808:808', undefined],
  ['127.255.255.254', 'loopback'],
  ['172.31.255.255', 'private'],
  ['100.127.255.255', 'shared by providers'],
  ['239.0.0.1', 'multicast'],
  ['::1', 'loopback'],
  ['fe80::1%eth0', 'link-local'],
  ['fdff::1', 'private'],
  ['::ffff:10.0.0.1', 'private, as IPv4-mapped'],
  ['::10.0.0.1', 'private, as IPv4-compatible'],
  ['2002:a00:1::1', 'private, as 6to4'],
  ['64:ff9b::7f00:1', 'loopback, as NAT64'],
  ['2001:0:1:2:3:4:80ff:fffe', 'loopback, as Teredo'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['no address', 'unknown'],
  ['127.0.0.01', 'unknown'],
  ['1::2::3', 'unknown'],
  ['1:2:3:4:5:6:7:8::', 'unknown'],
  ['', 'unknown'],
])('%s is %s', (address, kind) => {
  expect(internalKindOf(address)).toBe(kind)
})

test('every address of an internal block is internal in each IPv6 form that carries it', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(byte, byte, byte, (b, c, d) => {
      const hex = (high: number, low: number) => (high * 256 + low).toString(16)
      for (const a of [10, 127]) {
        const [left, right] = [hex(a, b), hex(c, d)]
        for (const address of [
          `${a}.${b}.${c}.${d}`,
          `::ffff:${a}.${b}.${c}.${d}`,
          `0:0:0:0:0:ffff:${left}:${right}`,
          `64:ff9b::${left}:${right}`,
          `2002:${left}:${right}::1`,
        ])
          expect(internalKindOf(address)).toBeDefined()
      }
    }),
    { numRuns: 200 },
  )
})

test('the forms of one address have one text', () => {
  expect(sameAddressText('::ffff:1.2.3.4')).toBe('1.2.3.4')
  expect(sameAddressText('::FFFF:102:304')).toBe('1.2.3.4')
  expect(sameAddressText('2001:DB8::1')).toBe(sameAddressText('2001:db8:0:0:0:0:0:1'))
})
