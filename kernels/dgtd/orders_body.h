/* Includes ORDER_BODY once for each order: NP nodes an element, NF a face, RB rows at a time. The
 * body undefines the four. */
#define ORDER 1
#define NP 4
#define NF 3
#define RB 4
#include ORDER_BODY
#define ORDER 2
#define NP 10
#define NF 6
#define RB 5
#include ORDER_BODY
#define ORDER 3
#define NP 20
#define NF 10
#define RB 5
#include ORDER_BODY
#define ORDER 4
#define NP 35
#define NF 15
#define RB 5
#include ORDER_BODY
