"""The eight tables of TPC-H as files for LOAD DATA, by the rules of the specification's clause 4.2, with random
numbers of our own.

Everything that the 22 queries depend on is as in dbgen: key ranges and their gaps, customers without orders, four
suppliers per part, dates that depend on each other, flags that depend on dates, and the words that LIKE searches for.
Comments are cut from a single pool of text.
"""

import datetime
import random
from pathlib import Path

SEED = 19_920_101

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3),
           ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0),
           ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3),
           ("UNITED KINGDOM", 3), ("UNITED STATES", 1)]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
TYPES = [f"{size} {finish} {metal}"
         for size in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
         for finish in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
         for metal in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")]
CONTAINERS = [f"{size} {kind}"
              for size in ("SM", "LG", "MED", "JUMBO", "WRAP")
              for kind in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")]
COLOURS = """almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate
coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew
hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy
olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate
smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow""".split()

FIRST_DAY = datetime.date(1992, 1, 1)
LAST_ORDER_DAY = (datetime.date(1998, 12, 31) - FIRST_DAY).days - 151
CURRENT_DAY = (datetime.date(1995, 6, 17) - FIRST_DAY).days
DAYS = [(FIRST_DAY + datetime.timedelta(days=day)).isoformat() for day in range(LAST_ORDER_DAY + 160)]

NOUNS = """packages requests accounts deposits foxes ideas theodolites instructions dependencies excuses platelets asymptotes courts dolphins
multipliers sauternes warthogs frets dinos attainments somas braids frays warhorses dugouts notornis epitaphs pearls tithes waters orbits
gifts sheaves depths sentiments decoys realms pains grouches escapades""".split()
VERBS = """sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve thrash promise engage hinder
print doze run dazzle snooze doubt unwind kindle play hang believe""".split()
ADJECTIVES = """special pending unusual express furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave
stealthy permanent enticing idle busy regular final ironic even bold silent""".split()
ADVERBS = """sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly ruthlessly thinly closely doggedly
daringly bravely stealthily permanently enticingly idly busily regularly finally ironically evenly boldly silently""".split()


class Text:
    """Comments: pieces of a pool of sentences."""

    def __init__(self, numbers):
        self.numbers = numbers
        sentences = []
        for _ in range(12_000):
            pick = numbers.choice
            sentences.append(f"{pick(ADJECTIVES)} {pick(NOUNS)} {pick(VERBS)} {pick(ADVERBS)} above the {pick(ADJECTIVES)} {pick(NOUNS)}")
        self.pool = ". ".join(sentences)

    def piece(self, shortest, longest):
        start = int(self.numbers.random() * (len(self.pool) - longest))
        return self.pool[start:start + shortest + int(self.numbers.random() * (longest - shortest + 1))].strip()


def money(cents):
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02}"


def retail_cents(part):
    return 90_000 + (part // 10) % 20_001 + 100 * (part % 1_000)


def supplier_of(part, number, suppliers):
    return (part + number * (suppliers // 4 + (part - 1) // suppliers)) % suppliers + 1


def phone(numbers, nation):
    return f"{10 + nation}-{numbers.randint(100, 999)}-{numbers.randint(100, 999)}-{numbers.randint(1000, 9999)}"


def marked(comment, numbers, first, second):
    """Returns a comment that contains two words, the second one after the first."""
    start = numbers.randint(0, max(0, len(comment) - 25))
    return f"{comment[:start]}{first} {comment[start:start + 5]}{second}{comment[start + 5:]}"[:100]


def write(directory, scale):
    """Writes one file per table, with `|` between the columns."""
    numbers = random.Random(SEED)
    text = Text(numbers)
    directory = Path(directory)
    suppliers, parts = int(10_000 * scale), int(200_000 * scale)
    customers, orders = int(150_000 * scale), int(1_500_000 * scale)

    def table(name, rows):
        with open(directory / f"{name}.tbl", "w", encoding="ascii") as file:
            file.writelines(rows)

    table("region", (f"{number}|{name}|{text.piece(31, 115)}\n" for number, name in enumerate(REGIONS)))
    table("nation", (f"{number}|{name}|{region}|{text.piece(31, 114)}\n" for number, (name, region) in enumerate(NATIONS)))
    table("supplier", supplier_rows(numbers, text, suppliers))
    table("part", part_rows(numbers, text, parts))
    table("partsupp", (f"{part}|{supplier_of(part, number, suppliers)}|{numbers.randint(1, 9_999)}|"
                       f"{money(numbers.randint(100, 100_000))}|{text.piece(49, 198)}\n"
                       for part in range(1, parts + 1) for number in range(4)))
    table("customer", customer_rows(numbers, text, customers))
    with open(directory / "orders.tbl", "w", encoding="ascii") as order_file, \
         open(directory / "lineitem.tbl", "w", encoding="ascii") as item_file:
        write_orders(numbers, text, orders, customers, parts, suppliers, order_file, item_file)


def supplier_rows(numbers, text, suppliers):
    # Of 10,000, five have complaints and five have recommendations.
    complaining = set(numbers.sample(range(1, suppliers + 1), max(1, suppliers // 1_000)))
    for key in range(1, suppliers + 1):
        nation = numbers.randrange(25)
        comment = text.piece(25, 75)
        if key in complaining:
            comment = marked(comment, numbers, "Customer", "Complaints")
        yield (f"{key}|Supplier#{key:09}|{text.piece(10, 40)}|{nation}|{phone(numbers, nation)}|"
               f"{money(numbers.randint(-99_999, 999_999))}|{comment}\n")


def part_rows(numbers, text, parts):
    for key in range(1, parts + 1):
        maker = numbers.randint(1, 5)
        yield (f"{key}|{' '.join(numbers.sample(COLOURS, 5))}|Manufacturer#{maker}|Brand#{maker}{numbers.randint(1, 5)}|{numbers.choice(TYPES)}|"
               f"{numbers.randint(1, 50)}|{numbers.choice(CONTAINERS)}|{money(retail_cents(key))}|{text.piece(5, 22)}\n")


def customer_rows(numbers, text, customers):
    for key in range(1, customers + 1):
        nation = numbers.randrange(25)
        yield (f"{key}|Customer#{key:09}|{text.piece(10, 40)}|{nation}|{phone(numbers, nation)}|{money(numbers.randint(-99_999, 999_999))}|"
               f"{numbers.choice(SEGMENTS)}|{text.piece(29, 116)}\n")


def write_orders(numbers, text, orders, customers, parts, suppliers, order_file, item_file):
    uniform = numbers.random
    clerks = max(1, orders // 1_500)
    for number in range(orders):
        # Of each 32 keys the first eight are used.
        order = (number // 8) * 32 + number % 8 + 1
        # Every third customer has no orders.
        customer = 1 + int(uniform() * customers)
        while customer % 3 == 0:
            customer = 1 + int(uniform() * customers)
        ordered = int(uniform() * (LAST_ORDER_DAY + 1))
        total, open_items, items = 0, 0, 1 + int(uniform() * 7)
        lines = []
        for line in range(1, items + 1):
            part = 1 + int(uniform() * parts)
            supplier = supplier_of(part, int(uniform() * 4), suppliers)
            quantity = 1 + int(uniform() * 50)
            price = quantity * retail_cents(part)
            discount, tax = int(uniform() * 11), int(uniform() * 9)
            shipped = ordered + 1 + int(uniform() * 121)
            committed = ordered + 30 + int(uniform() * 61)
            received = shipped + 1 + int(uniform() * 30)
            returned = ("R" if uniform() < 0.5 else "A") if received <= CURRENT_DAY else "N"
            status = "O" if shipped > CURRENT_DAY else "F"
            open_items += status == "O"
            total += price * (100 + tax) * (100 - discount) // 10_000
            lines.append(f"{order}|{part}|{supplier}|{line}|{quantity}|{price // 100}.{price % 100:02}|0.{discount:02}|0.{tax:02}|{returned}|"
                         f"{status}|{DAYS[shipped]}|{DAYS[committed]}|{DAYS[received]}|{INSTRUCTIONS[int(uniform() * 4)]}|"
                         f"{MODES[int(uniform() * 7)]}|{text.piece(10, 43)}\n")
        item_file.writelines(lines)
        status = "F" if open_items == 0 else "O" if open_items == items else "P"
        order_file.write(f"{order}|{customer}|{status}|{total // 100}.{total % 100:02}|{DAYS[ordered]}|{PRIORITIES[int(uniform() * 5)]}|"
                         f"Clerk#{1 + int(uniform() * clerks):09}|0|{text.piece(19, 78)}\n")
