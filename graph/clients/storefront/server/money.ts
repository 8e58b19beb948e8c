/** Writing is how the shopper's language writes a currency, as `currencies` tells it. */
export interface Writing { decimalPoint: string; thousandSeparator: string; decimalPlaces: number; format: string }

/** written is an amount of minor units for people. */
export function written(amount: bigint, { decimalPoint, thousandSeparator, decimalPlaces, format }: Writing): string {
  const digits = amount.toString().padStart(decimalPlaces + 1, '0')
  const whole = digits.slice(0, digits.length - decimalPlaces).replace(/\B(?=(\d{3})+$)/g, thousandSeparator)
  return format.replace('{price}', decimalPlaces ? whole + decimalPoint + digits.slice(-decimalPlaces) : whole)
}

/** percentOf is a part of an amount, to the nearest minor unit; percent is digits such as `12.5`. */
export function percentOf(amount: bigint, percent: string): bigint {
  const [whole = '0', fraction = ''] = percent.split('.')
  const scale = 100n * 10n ** BigInt(fraction.length)
  return (amount * BigInt(whole + fraction) + scale / 2n) / scale
}

export const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b))
